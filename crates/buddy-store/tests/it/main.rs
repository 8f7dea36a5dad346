//! The store as its callers use it, alone and among other processes.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod child;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod log;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod power;
#[cfg(test)]
mod search;
#[cfg(test)]
mod settled;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tampering;
#[cfg(test)]
mod truncation;
