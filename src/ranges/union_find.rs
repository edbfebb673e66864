//! Disjoint sets of the numbers 0..n, with union by size and path halving.

pub(super) struct UnionFind {
    parent: Vec<u32>,
    size: Vec<u32>,
}

impl UnionFind {
    pub(super) fn new(n: u32) -> UnionFind {
        UnionFind { parent: (0..n).collect(), size: vec![1; n as usize] }
    }

    pub(super) fn find(&mut self, of: u32) -> u32 {
        let mut at = of;
        loop {
            let parent = self.parent[at as usize];
            if parent == at {
                return at;
            }
            let grandparent = self.parent[parent as usize];
            self.parent[at as usize] = grandparent;
            at = grandparent;
        }
    }

    pub(super) fn same(&mut self, a: u32, b: u32) -> bool {
        self.find(a) == self.find(b)
    }

    /// Whether they were apart.
    pub(super) fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return false;
        }
        let (small, large) = if self.size[a as usize] < self.size[b as usize] { (a, b) } else { (b, a) };
        self.parent[small as usize] = large;
        self.size[large as usize] += self.size[small as usize];
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_joined_through_any_chain_and_no_further() {
        let mut sets = UnionFind::new(6);
        sets.union(0, 3);
        sets.union(5, 4);
        sets.union(3, 5);
        assert!(sets.same(0, 4));
        assert!(!sets.same(0, 1));
        assert!(!sets.same(1, 2));
    }
}
