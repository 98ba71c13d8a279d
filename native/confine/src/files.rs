//! Files: with Landlock only those below a few folders can be opened, for reading only.

use std::os::fd::{AsRawFd, OwnedFd};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};

use super::protection::{Protection, last_error};
use super::threads::{restrict_other_threads, restrict_this_thread};

pub fn restrict(readable: &[String]) -> Protection {
    let ruleset = match ruleset(readable) {
        Ok(Some(ruleset)) => ruleset,
        Ok(None) => return Protection::Unavailable("this kernel has no Landlock".into()),
        Err(error) => return Protection::Unavailable(error),
    };
    let others = restrict_other_threads(&ruleset);
    if restrict_this_thread(ruleset.as_raw_fd()) != 0 {
        return Protection::Unavailable(last_error("landlock_restrict_self"));
    }
    if let Err(reason) = others {
        return Protection::Partial(reason);
    }
    if !refuses_truncation() {
        return Protection::Partial("before Linux 6.2 it lets files be cut short; only seccomp refuses it".into());
    }
    Protection::Enforced
}

/// Whether the kernel can forbid truncation. `BestEffort` leaves it out silently otherwise.
fn refuses_truncation() -> bool {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::Truncate).is_ok()
}

/// Forbids everything that the kernel can forbid, except reading files below `readable`.
fn ruleset(readable: &[String]) -> Result<Option<OwnedFd>, String> {
    let build = || -> Result<Option<OwnedFd>, landlock::RulesetError> {
        Ok(Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V9))?
            .handle_access(AccessNet::from_all(ABI::V9))?
            .scope(Scope::from_all(ABI::V9))?
            .create()?
            .add_rules(path_beneath_rules(readable, AccessFs::ReadFile))?
            .into())
    };
    build().map_err(|error| error.to_string())
}
