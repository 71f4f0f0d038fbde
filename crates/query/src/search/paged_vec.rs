//! A vector that grows by pages.
//!
//! A query may gather one entry per event. A doubling vector copies its elements and fragments the allocator; pages
//! stay in place and are freed one by one.

use std::ops::{Index, IndexMut};

/// Elements per page: some dozen kilobytes, which allocators do not map separately.
const PAGE: usize = 1024;

#[derive(Debug)]
pub(super) struct PagedVec<T> {
    pages: Vec<Vec<T>>,
    len: usize,
}

impl<T> PagedVec<T> {
    pub(super) fn new() -> Self {
        Self {
            pages: Vec::new(),
            len: 0,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn push(&mut self, element: T) {
        match self.pages.last_mut() {
            Some(page) if page.len() < PAGE => page.push(element),
            // The first page grows on demand: most lists are short.
            None => self.pages.push(vec![element]),
            Some(_) => {
                let mut page = Vec::with_capacity(PAGE);
                page.push(element);
                self.pages.push(page);
            }
        }
        self.len += 1;
    }
}

impl<T> Index<usize> for PagedVec<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: usize) -> &T {
        &self.pages[at / PAGE][at % PAGE]
    }
}

impl<T> IndexMut<usize> for PagedVec<T> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut T {
        &mut self.pages[at / PAGE][at % PAGE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_they_were_put_on_every_page() {
        let mut list = PagedVec::new();
        for at in 0..3 * PAGE + 7 {
            assert_eq!(list.len(), at);
            list.push(at);
        }
        for at in 0..list.len() {
            list[at] += 1_000_000;
        }
        assert!((0..list.len()).all(|at| list[at] == at + 1_000_000));
    }
}
