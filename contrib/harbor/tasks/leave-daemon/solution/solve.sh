#!/bin/bash
set -e
cat >/app/server.pl <<'END'
use IO::Socket;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 8017, Listen => 5, ReuseAddr => 1) or die $!;
while (my $client = $server->accept) { print $client "pong\n"; close $client }
END
setsid perl /app/server.pl >/dev/null 2>&1 </dev/null &
sleep 0.5
