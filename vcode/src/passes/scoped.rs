//! What a pass knows from one block on to the end of it: a map that forgets, at the end of a block, what was learnt in
//! it.

use std::collections::HashMap;
use std::hash::Hash;

/// A map whose entries last as long as the block that was open when they were made.
pub(crate) struct Scoped<K, V> {
    known: HashMap<K, V>,
    /// The keys that each open block has added.
    scopes: Vec<Vec<K>>,
}

impl<K: Clone + Eq + Hash, V> Scoped<K, V> {
    /// An empty map, in the body of a function.
    pub fn new() -> Scoped<K, V> {
        Scoped { known: HashMap::new(), scopes: vec![Vec::new()] }
    }

    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.known.get(key)
    }

    /// Adds an entry, unless there is one: what was known first was known for longer.
    pub fn insert(&mut self, key: K, value: V) {
        if self.known.contains_key(&key) {
            return;
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(key.clone());
        }
        self.known.insert(key, value);
    }

    /// A block begins.
    pub fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    /// A block ends; the keys that are forgotten.
    pub fn leave(&mut self) -> Vec<K> {
        let forgotten = self.scopes.pop().unwrap_or_default();
        for key in &forgotten {
            self.known.remove(key);
        }
        forgotten
    }
}
