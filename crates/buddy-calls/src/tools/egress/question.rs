//! One question about the hosts that a command wants to reach: every host that the answer covers, and where it is named.

use std::net::IpAddr;

use buddy_policy::{Decision, Grant, Offer, Registry, downloads_path, hosts_offer, nearby_offer};
use buddy_protocol::{Approval, Offer as OfferText, Risk, RunLimits, RunNetwork};

use crate::targets::Attached;

/// How a question and its offers tell of the hosts that an index names.
const DOWNLOADS: &str = ", and hosts that this index names for downloads";

/// The end of what an offer covers: nothing else.
const ALONE: &str = ", and at no other host";

/// A package manager, if its indexes have a page that names hosts for downloads.
fn with_downloads(manager: Option<&'static str>) -> Option<&'static str> {
    manager.filter(|manager| downloads_path(manager).is_some())
}

/// A question about hosts.
pub(super) struct HostsQuestion {
    /// Who wants to reach them.
    program: String,
    /// Whose registry it is; none where no settings name the hosts.
    whose: Option<String>,
    /// The package manager that runs, where no settings name the hosts.
    manager: Option<&'static str>,
    /// The package manager whose indexes name further hosts for downloads, which the answer covers too.
    index_of: Option<&'static str>,
    /// Why an index that was allowed before could not be read.
    pub(super) index_unread: Option<String>,
    /// Whether the session could have read a secret.
    pub(super) knows_secret: bool,
    /// Each with where it is named.
    shown: Vec<(String, Option<String>)>,
    pub(super) hosts: Vec<NewHost>,
    pub(super) nearby: Vec<NearbyHost>,
}

/// A host that nobody allowed yet.
pub(super) struct NewHost {
    pub(super) host: String,
    /// The port of an index at this host; none where that is not known.
    pub(super) port: Option<u16>,
    /// The gate's verdict on it.
    pub(super) decision: Decision,
}

/// A host with its port that is on this machine or in a private network.
pub(super) struct NearbyHost {
    pub(super) authority: String,
    pub(super) address: IpAddr,
}

impl NearbyHost {
    fn place(&self) -> &'static str {
        if self.address.to_canonical().is_loopback() { "this machine" } else { "a private network" }
    }
}

impl HostsQuestion {
    fn new(program: &str) -> Self {
        let (shown, hosts, nearby) = (Vec::new(), Vec::new(), Vec::new());
        let program = program.to_owned();
        Self {
            program,
            whose: None,
            manager: None,
            index_of: None,
            index_unread: None,
            knows_secret: false,
            shown,
            hosts,
            nearby,
        }
    }

    /// About the registry of a package manager.
    pub(super) fn registry(program: &str, registry: &Registry) -> Self {
        let whose = if registry.is_of_command { "its".to_owned() } else { format!("{}'s", registry.of) };
        Self { whose: Some(whose), index_of: with_downloads(Some(registry.of)), ..Self::new(program) }
    }

    /// About hosts that no settings name.
    pub(super) fn unnamed(program: &str, manager: Option<&'static str>) -> Self {
        Self { manager, index_of: with_downloads(manager), ..Self::new(program) }
    }

    /// About one host that is nearby.
    pub(super) fn nearby(program: &str, host: NearbyHost) -> Self {
        let shown = format!("{} on {}", host.authority, host.place());
        Self { shown: vec![(shown, None)], nearby: vec![host], ..Self::new(program) }
    }

    /// The answer is about this host too.
    pub(super) fn add(&mut self, new: NewHost, named_in: Option<&str>) {
        if self.hosts.iter().any(|known| known.host == new.host) {
            return;
        }
        let is_shown = self.shown.iter().any(|(shown, _)| shown.starts_with(&format!("{}:", new.host)));
        if !is_shown {
            self.shown.push((new.host.clone(), named_in.map(str::to_owned)));
        }
        self.hosts.push(new);
    }

    /// The answer is about this host nearby too.
    pub(super) fn add_nearby(&mut self, host: NearbyHost, named_in: &str) {
        self.shown.push((format!("{} on {}", host.authority, host.place()), Some(named_in.to_owned())));
        self.nearby.push(host);
    }

    /// A host that it is about.
    pub(super) fn first(&self) -> &str {
        let nearby = self.nearby.first().and_then(|host| host.authority.rsplit_once(':'));
        let named = self.hosts.first().map(|new| new.host.as_str());
        named.or(nearby.map(|(host, _)| host)).unwrap_or_default()
    }

    /// The hosts that it is about, in a few words.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.shown.iter().map(|(shown, _)| shown.as_str()).collect();
        names.join(", ")
    }

    /// The package manager whose indexes name further hosts that the answer covers.
    pub(super) fn index_of(&self) -> Option<&'static str> {
        self.index_of.filter(|_| !self.hosts.is_empty() && self.index_unread.is_none())
    }

    /// One line: who wants to reach which hosts, and where each is named.
    pub(super) fn action(&self) -> String {
        let downloads = self.index_of().map_or("", |_| DOWNLOADS);
        format!("{}{downloads}", self.wish())
    }

    fn wish(&self) -> String {
        let Self { program, shown, .. } = self;
        let Some(whose) = &self.whose else {
            let hosts: Vec<&str> = shown.iter().map(|(host, _)| host.as_str()).collect();
            return format!("{program} wants to reach {}", hosts.join(", "));
        };
        let named = |place: &Option<String>| place.as_deref().unwrap_or("its settings").to_owned();
        match shown.as_slice() {
            [(host, place)] => {
                format!("{program} wants to reach {host} ({whose} registry, named in {})", named(place))
            }
            all => {
                let hosts: Vec<String> =
                    all.iter().map(|(host, place)| format!("{host} (named in {})", named(place))).collect();
                format!("{program} wants to reach {whose} registry: {}", hosts.join(", "))
            }
        }
    }

    fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<String> =
            self.hosts.iter().flat_map(|new| new.decision.reasons.iter().cloned()).collect();
        reasons.extend(self.nearby.iter().map(|near| {
            let host = near.authority.rsplit_once(':').map_or(near.authority.as_str(), |(host, _)| host);
            if host.trim_matches(['[', ']']) == near.address.to_string() {
                return format!("`{host}` is on {}", near.place());
            }
            format!("`{host}` is at {}, on {}", near.address, near.place())
        }));
        // The reasons for the other hosts say so.
        if self.knows_secret && self.hosts.is_empty() {
            reasons.push("this session could have read a secret, so hosts that you named ask too".to_owned());
        }
        if let Some(why) = &self.index_unread {
            reasons.push(format!("the index could not be read, so download hosts ask separately: {why}"));
        } else if let Some(manager) = self.manager {
            reasons.push(format!(
                "{manager}'s settings do not name it: it is a default of {manager}, or a package needs it"
            ));
        }
        reasons
    }

    /// The lasting permission: all of it, and nothing else.
    pub(super) fn offers(&self, target: &str) -> Vec<Offer> {
        let mut offers = self.offers_of_hosts(target);
        for offer in offers.iter_mut().filter(|_| self.index_of().is_some()) {
            let end = offer.covers.find(ALONE).unwrap_or(offer.covers.len());
            offer.covers.insert_str(end, DOWNLOADS);
        }
        offers
    }

    /// The permission that is saved for all of it and for these hosts for downloads.
    pub(super) fn grant_with(&self, downloads: &[String], target: &str) -> Grant {
        let fetches =
            self.hosts.iter().map(|new| new.host.clone()).chain(downloads.iter().cloned()).collect();
        let nearby = self.nearby.iter().map(|near| near.authority.clone()).collect();
        hosts_offer(fetches, nearby, target).grant
    }

    fn offers_of_hosts(&self, target: &str) -> Vec<Offer> {
        match (self.hosts.as_slice(), self.nearby.as_slice()) {
            ([one], []) => one.decision.offers.clone(),
            ([], [one]) => vec![nearby_offer(&one.authority, target)],
            (hosts, nearby) => {
                let fetches = hosts.iter().map(|new| new.host.clone()).collect();
                let nearby = nearby.iter().map(|near| near.authority.clone()).collect();
                vec![hosts_offer(fetches, nearby, target)]
            }
        }
    }

    pub(super) fn approval(&self, target: &Attached, offers: &[Offer], lines: &[String]) -> Approval {
        let described = target.host.target.describe();
        let offered =
            |offer: &Offer| OfferText { grant: offer.grant.to_string(), covers: offer.covers.clone() };
        let risks = self.hosts.iter().map(|new| new.decision.risk);
        Approval {
            item: None,
            actor: "buddy".to_owned(),
            place: format!("{}@{}", described.user, described.host),
            target: None,
            cwd: target.place.cwd.to_string_lossy().into_owned(),
            action: self.action(),
            why: None,
            risk: risks.chain([Risk::Medium]).max().unwrap_or(Risk::Medium),
            reasons: self.reasons(),
            parts: lines.to_vec(),
            destinations: Vec::new(),
            risky: Vec::new(),
            limits: Some(RunLimits { sandboxed: true, network: RunNetwork::ByHost }),
            opens: Vec::new(),
            diff: None,
            is_editable: false,
            offers: offers.iter().map(offered).collect(),
            unfit: None,
            word: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use buddy_policy::{Action, Intent, Now, Policy, decide};
    use buddy_protocol::ApprovalPolicy;

    use super::*;

    #[test]
    fn a_question_after_an_index_that_could_not_be_read_covers_its_own_host_alone() {
        let host = "files.pythonhosted.org".to_owned();
        let intent = Intent::of(Action::Fetch(format!("https://{host}/")));
        let decision = decide(&intent, &Policy::plain("/w".into()), &Now::with(ApprovalPolicy::Ask));
        let mut question = HostsQuestion::unnamed("pip", Some("pip"));
        question.add(NewHost { host, port: Some(443), decision }, None);
        assert!(
            question.action().ends_with(DOWNLOADS)
                && question.offers("local")[0].covers.contains(&format!("{DOWNLOADS}{ALONE}"))
        );
        question.index_unread = Some("`pypi.org` answered with status 404".to_owned());
        assert_eq!(question.action(), "pip wants to reach files.pythonhosted.org");
        assert!(!question.offers("local")[0].covers.contains("index"));
        assert!(
            question
                .reasons()
                .iter()
                .any(|reason| reason.contains("could not be read") && reason.ends_with("status 404"))
        );
    }

    #[test]
    fn a_question_about_a_server_nearby_tells_of_a_secret() {
        let near = NearbyHost { authority: "localhost:8123".to_owned(), address: [127, 0, 0, 1].into() };
        let mut question = HostsQuestion::nearby("curl", near);
        let told =
            |question: &HostsQuestion| question.reasons().join("; ").contains("could have read a secret");
        assert!(!told(&question));
        question.knows_secret = true;
        assert!(told(&question));
    }
}
