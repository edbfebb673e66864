//! Many points of one space, one after the other: a point costs its coordinates and nothing else.

/// Points of as many coordinates each.
pub struct Points {
    dims: usize,
    words: Vec<u64>,
}

impl Points {
    pub fn new(dims: usize) -> Points {
        Points { dims: dims.max(1), words: Vec::new() }
    }

    pub fn push(&mut self, point: &[u64]) {
        self.words.extend_from_slice(point);
    }

    pub fn len(&self) -> usize {
        self.words.len() / self.dims
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u64]> + Clone {
        self.words.chunks_exact(self.dims)
    }

    pub fn get(&self, index: usize) -> &[u64] {
        &self.words[index * self.dims..(index + 1) * self.dims]
    }

    /// Keeps the points of these indices, which are in order.
    pub fn keep(&mut self, indices: &[usize]) {
        for (to, &from) in indices.iter().enumerate() {
            self.words.copy_within(from * self.dims..(from + 1) * self.dims, to * self.dims);
        }
        self.words.truncate(indices.len() * self.dims);
        self.words.shrink_to_fit();
    }
}
