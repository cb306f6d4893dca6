//! Which particles and boundary samples lie within the support radius of each particle.

use super::boundary::BoundarySet;
use super::grid::{CellGrid, Rows};
use super::kernel::REACH_SQUARED;
use super::parallel::{CHUNK, Threads, for_each_chunk};
use super::vector::Vector;

/// Factor between the support radius and the size of a search cell: above the
/// reach of the search, so that one ring of cells around a point is enough.
pub(crate) const CELL_FACTOR: f32 = 1.000_1;

/// Neighbours of a fixed chunk of particles, as compressed lists.
///
/// A particle's fluid neighbours are padded to whole bundles of
/// [`Lanes`](super::lanes::Lanes) with the particle itself.
#[derive(Debug, Default)]
pub(crate) struct NeighborChunk<V: Vector> {
    /// Sorted indices of fluid neighbours, particle after particle; longer than
    /// the last list, so that the search can write ahead of knowing a hit.
    fluid: Vec<u32>,
    /// Where each particle's padded list ends, in bundles.
    bundle_ends: Vec<u32>,
    /// Fluid neighbours of each particle, without padding.
    fluid_counts: Vec<u32>,
    /// Sorted indices of boundary samples.
    boundary: Vec<u32>,
    boundary_ends: Vec<u32>,
    /// V0 grad W of each fluid neighbour, zero for padding; filled by the density pass.
    pub(crate) gradients: Vec<V::Bundle>,
    /// V0 W of each fluid neighbour, zero for padding; filled by the density pass.
    pub(crate) weights: Vec<f32>,
}

/// The padded list of one particle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bundles<'a, V: Vector> {
    /// Sorted indices, whole bundles.
    pub(crate) indices: &'a [u32],
    /// V0 grad W.
    pub(crate) gradients: &'a [V::Bundle],
    /// V0 W.
    pub(crate) weights: &'a [f32],
}

impl<V: Vector> NeighborChunk<V> {
    #[inline(always)]
    fn span(ends: &[u32], local: usize) -> core::ops::Range<usize> {
        let start = if local == 0 { 0 } else { ends[local - 1] };
        start as usize..ends[local] as usize
    }

    /// Fluid neighbours of the chunk's particle `local`.
    #[inline(always)]
    pub(crate) fn fluid(&self, local: usize) -> &[u32] {
        let start = Self::span(&self.bundle_ends, local).start * V::WIDTH;
        &self.fluid[start..start + self.fluid_counts[local] as usize]
    }

    /// Boundary neighbours of the chunk's particle `local`.
    #[inline(always)]
    pub(crate) fn boundary(&self, local: usize) -> &[u32] {
        &self.boundary[Self::span(&self.boundary_ends, local)]
    }

    /// Fluid neighbours with what the density pass stored beside them.
    #[inline(always)]
    pub(crate) fn bundles(&self, local: usize) -> Bundles<'_, V> {
        let span = Self::span(&self.bundle_ends, local);
        let places = span.start * V::WIDTH..span.end * V::WIDTH;
        Bundles {
            indices: &self.fluid[places.clone()],
            gradients: &self.gradients[span],
            weights: &self.weights[places],
        }
    }

    /// Bytes of all lists.
    fn bytes(&self) -> usize {
        let words = self.fluid.capacity()
            + self.bundle_ends.capacity()
            + self.fluid_counts.capacity()
            + self.boundary.capacity()
            + self.boundary_ends.capacity()
            + self.weights.capacity();
        4 * words + size_of::<V::Bundle>() * self.gradients.capacity()
    }

    fn find(
        &mut self,
        first: usize,
        positions: &[V],
        grid: &CellGrid,
        boundary: &BoundarySet<V>,
        reach2: f32,
    ) {
        self.bundle_ends.clear();
        self.fluid_counts.clear();
        self.boundary.clear();
        self.boundary_ends.clear();
        let (mut fluid_rows, mut boundary_rows) = (Rows::default(), Rows::default());
        let mut candidates = Candidates::default();
        let mut cell = usize::MAX;
        let mut used = 0;
        for i in first..positions.len().min(first + CHUNK) {
            let x = positions[i];
            if grid.cell_of(i) != cell {
                cell = grid.cell_of(i);
                grid.rows(x, &mut fluid_rows);
                boundary.grid().rows(x, &mut boundary_rows);
                candidates.collect(positions, &fluid_rows);
            }
            let room = used + candidates.indices.len() + V::WIDTH;
            if self.fluid.len() < room {
                self.fluid.resize(room + room / 8, 0);
            }
            let count = candidates.hits(x, i as u32, reach2, &mut self.fluid[used..]);
            let padded = count.next_multiple_of(V::WIDTH);
            self.fluid[used + count..used + padded].fill(i as u32);
            used += padded;
            self.fluid_counts.push(count as u32);
            self.bundle_ends.push((used / V::WIDTH) as u32);
            for j in boundary_rows.points() {
                if (x - boundary.positions()[j]).length_squared() < reach2 {
                    self.boundary.push(j as u32);
                }
            }
            self.boundary_ends.push(self.boundary.len() as u32);
        }
    }
}

/// The particles in the cells around one cell, one array per component, so
/// that their distances to a point are found several at a time.
#[derive(Default)]
struct Candidates {
    components: [Vec<f32>; 3],
    indices: Vec<u32>,
    distances: Vec<f32>,
}

impl Candidates {
    fn collect<V: Vector>(&mut self, positions: &[V], rows: &Rows) {
        self.indices.clear();
        self.indices.extend(rows.points().map(|j| j as u32));
        for (axis, components) in self.components[..V::DIM].iter_mut().enumerate() {
            components.clear();
            for &(start, end) in rows.ranges() {
                let row = &positions[start as usize..end as usize];
                components.extend(row.iter().map(|position| position.to_array()[axis]));
            }
        }
        self.distances.resize(self.indices.len(), 0.0);
    }

    /// Writes the indices within reach of `x` to `out`, which has room for all
    /// candidates, leaving out `own`. Returns how many there are.
    #[inline(always)]
    fn hits<V: Vector>(&mut self, x: V, own: u32, reach2: f32, out: &mut [u32]) -> usize {
        let count = self.indices.len();
        let x = x.to_array();
        let [xs, ys, zs] = &self.components;
        let distances = &mut self.distances[..count];
        let (xs, ys) = (&xs[..count], &ys[..count]);
        for k in 0..count {
            let (dx, dy) = (x[0] - xs[k], x[1] - ys[k]);
            distances[k] = dx * dx + dy * dy;
        }
        if V::DIM == 3 {
            let zs = &zs[..count];
            for k in 0..count {
                let dz = x[2] - zs[k];
                distances[k] += dz * dz;
            }
        }
        let out = &mut out[..count];
        let mut hits = 0;
        for (&distance, &j) in distances.iter().zip(&self.indices) {
            // Written before it is known to be a hit: a branch would miss half the time.
            out[hits] = j;
            hits += usize::from(distance < reach2 && j != own);
        }
        hits
    }
}

/// Neighbour lists of all particles of a world.
#[derive(Debug, Default)]
pub(crate) struct NeighborLists<V: Vector> {
    chunks: Vec<NeighborChunk<V>>,
    used: usize,
}

impl<V: Vector> NeighborLists<V> {
    /// Finds the neighbours of `positions`, sorted as in `grid`.
    pub(crate) fn find(
        &mut self,
        threads: Threads,
        positions: &[V],
        grid: &CellGrid,
        boundary: &BoundarySet<V>,
        support_radius: f32,
    ) {
        self.used = positions.len().div_ceil(CHUNK);
        if self.chunks.len() < self.used {
            self.chunks.resize_with(self.used, Default::default);
        }
        let reach2 = support_radius * support_radius * REACH_SQUARED;
        for_each_chunk(threads, self.chunks_mut().iter_mut().enumerate(), |(index, chunk)| {
            chunk.find(index * CHUNK, positions, grid, boundary, reach2);
        });
    }

    /// The chunks of the particles, in order.
    pub(crate) fn chunks(&self) -> &[NeighborChunk<V>] {
        &self.chunks[..self.used]
    }

    /// The chunks of the particles, in order.
    pub(crate) fn chunks_mut(&mut self) -> &mut [NeighborChunk<V>] {
        &mut self.chunks[..self.used]
    }

    /// The chunk of a particle and the particle's place in it.
    #[inline(always)]
    pub(crate) fn of(&self, particle: usize) -> (&NeighborChunk<V>, usize) {
        (&self.chunks[particle / CHUNK], particle % CHUNK)
    }

    /// Bytes of all lists.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.iter().map(NeighborChunk::bytes).sum()
    }
}

/// The oracle of the search: every pair tested, O(n²).
#[cfg(test)]
pub(crate) fn brute_force<V: Vector>(
    points: &[V],
    others: &[V],
    support_radius: f32,
) -> Vec<Vec<u32>> {
    let reach2 = support_radius * support_radius * REACH_SQUARED;
    points
        .iter()
        .map(|&x| {
            (0..others.len() as u32)
                .filter(|&j| (x - others[j as usize]).length_squared() < reach2)
                .collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::{Vec2, Vec3};
    use bevy_tasks::TaskPoolBuilder;

    /// A reproducible cloud in [-1, 1)^DIM.
    fn cloud<V: Vector>(count: u32) -> Vec<V> {
        let mut state = 0x1234_5678_9abc_def0u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
        };
        (0..count).map(|_| V::from_array([next(), next(), next()])).collect()
    }

    fn check<V: Vector>(points: &[V], samples: &[V], support_radius: f32, threads: Threads) {
        let ids: Vec<u32> = (0..points.len() as u32).collect();
        let mut grid = CellGrid::default();
        grid.sort(points, &ids, support_radius * CELL_FACTOR);
        let positions: Vec<V> = grid.order().map(|old| points[old]).collect();
        let mut boundary = BoundarySet::default();
        boundary.rebuild(samples, support_radius);
        let mut lists = NeighborLists::default();
        lists.find(threads, &positions, &grid, &boundary, support_radius);
        let fluid = brute_force(&positions, &positions, support_radius);
        let walls = brute_force(&positions, boundary.positions(), support_radius);
        for i in 0..positions.len() {
            let (chunk, local) = lists.of(i);
            let mut found = chunk.fluid(local).to_vec();
            found.sort_unstable();
            let expected: Vec<u32> =
                fluid[i].iter().copied().filter(|&j| j as usize != i).collect();
            assert_eq!(found, expected, "fluid neighbours of {:?}", positions[i]);
            let mut found = chunk.boundary(local).to_vec();
            found.sort_unstable();
            assert_eq!(found, walls[i], "boundary neighbours of {:?}", positions[i]);
        }
    }

    #[test]
    fn lists_equal_brute_force_in_2d_and_3d() {
        let pool = TaskPoolBuilder::new().num_threads(2).build();
        for threads in [Threads::Serial, Threads::Pool(&pool)] {
            check::<Vec2>(&cloud(5000), &cloud(300), 0.08, threads);
            check::<Vec3>(&cloud(5000), &cloud(300), 0.15, threads);
        }
    }

    #[test]
    fn cells_around_zero_and_far_from_it_equal_brute_force() {
        check(&[Vec2::new(-0.3, 0.0), Vec2::new(0.2, 0.0)], &[], 0.6, Threads::Serial);
        for offset in [1e3f32, -1e5, 3e6] {
            let points: Vec<Vec2> =
                cloud::<Vec2>(2000).iter().map(|p| *p * 10.0 + Vec2::splat(offset)).collect();
            check(&points, &points[..100], 0.5, Threads::Serial);
        }
    }

    #[test]
    fn far_outliers_and_a_crowd_in_one_cell_equal_brute_force() {
        let mut points: Vec<Vec2> = cloud::<Vec2>(2000).iter().map(|p| *p * 0.01).collect();
        points.extend([Vec2::splat(1e6), Vec2::splat(-1e6), Vec2::new(f32::MAX, 0.0), Vec2::ZERO]);
        check(&points, &points[1990..], 0.1, Threads::Serial);
        check(&vec![Vec3::ONE; 1500], &[Vec3::ONE], 0.1, Threads::Serial);
    }

    #[test]
    fn lattice_neighbors_at_the_support_radius_count() {
        let points: Vec<Vec2> =
            (0..81).map(|i| Vec2::new((i % 9) as f32, (i / 9) as f32) * 0.05).collect();
        let lists = brute_force(&points, &points, 0.1);
        assert_eq!(lists[40].len(), 13);
        check(&points, &points, 0.1, Threads::Serial);
    }
}
