//! The names of a session: which there are, what type they have, and which are its own.

use super::session::{Repl, is_number};
use nesl_backend::Engine;
use nesl_service::KnownName;

impl<E: Engine> Repl<E> {
    /// The names that can be used now, with their types.
    pub fn names(&self) -> Vec<KnownName> {
        let mut names = nesl_service::known_names(self.session(), self.sources());
        names.retain(|name| Self::is_named(&name.name));
        names
    }

    /// The names that are not the library's, in alphabetical order; last results are not among them.
    pub(super) fn own_names(&self) -> Vec<KnownName> {
        let is_own = |name: &KnownName| {
            !is_number(&name.name)
                && name.name != "it"
                && (!self.library.contains(&name.name) || self.is_redefined(&name.name))
        };
        let mut names: Vec<KnownName> = self.names().into_iter().filter(is_own).collect();
        names.sort_by(|one, other| one.name.cmp(&other.name));
        names
    }

    /// Whether a name of the library means something else now.
    fn is_redefined(&self, name: &str) -> bool {
        self.session().function(name).is_some_and(|id| !self.session().is_library_function(id))
    }

    /// Whether a name means what the session defined.
    pub(super) fn is_own_name(&self, name: &str) -> bool {
        (self.session().function(name).is_some() || self.session().global(name).is_some())
            && (!self.library.contains(name) || self.is_redefined(name))
    }
}
