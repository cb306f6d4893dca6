//! Which particles and boundary samples lie within the support radius of each particle.

mod lists;
pub(crate) mod sums;
mod wrapped;

use core::ops::Range;

use super::grid::{Around, Beside, Rows};
use super::listed::Bounds;
use super::neighborhood::{
    Batch, Columns, Entry, Evaluate, Extent, Lists, Results, Sift, Surroundings,
};
use super::parallel::{CHUNK, Threads, chunks, chunks_mut, for_each_chunk, numbers};
use super::vector::Vector;
use super::wide::{self, Machine, Task};

pub(crate) use lists::{AllLists, ChunkLists, Successive};

/// Factor between the support radius and the size of a search cell: above the
/// reach of the search, so that one ring of cells around a point is enough.
pub(crate) const CELL_FACTOR: f32 = 1.000_1;

/// Neighbours of a fixed chunk of particles, as compressed lists.
///
/// A particle's fluid neighbours are padded to whole pairs with the particle itself.
#[derive(Debug, Default)]
pub(crate) struct NeighborChunk<V: Vector> {
    /// Fluid neighbours, particle after particle.
    fluid: Lists<V>,
    /// Of each particle.
    entries: Vec<Entry>,
    /// Bounds of the indices in each list, its particle's own included; none if
    /// the lists ascend.
    bounds: Vec<Bounds>,
    /// Bounds of the indices in all lists.
    reach: Bounds,
    /// Sorted indices of boundary samples.
    boundary: Vec<u32>,
    boundary_ends: Vec<u32>,
    batch: Batch<V>,
    /// Boundary samples within reach of the particles of the present cell.
    walls: Vec<u32>,
}

impl<V: Vector> NeighborChunk<V> {
    /// Bytes of all lists.
    fn bytes(&self) -> usize {
        4 * (self.boundary.capacity() + self.boundary_ends.capacity() + self.walls.capacity())
            + size_of::<Entry>() * self.entries.capacity()
            + size_of::<Bounds>() * self.bounds.capacity()
            + self.fluid.bytes()
            + self.batch.bytes()
    }

    /// Forgets all lists.
    fn clear(&mut self) {
        self.entries.clear();
        self.bounds.clear();
        self.boundary.clear();
        self.boundary_ends.clear();
        self.fluid.used = 0;
        self.fluid.apart.clear();
        self.fluid.coincident = false;
    }

    /// Ends the lists of a particle: that of the fluid had `start` entries before
    /// its `count` neighbours, which ascend unless there are bounds.
    fn close(&mut self, start: usize, count: u32) {
        self.entries.push(Entry { start: start as u32, count });
        self.boundary_ends.push(self.boundary.len() as u32);
    }

    /// Finds the neighbours of the chunk's particles, the first of which is
    /// `first`, and what follows from all positions.
    ///
    /// `MIXED` if the rest densities differ.
    #[inline(always)]
    fn find<M: Machine, const MIXED: bool>(
        &mut self,
        machine: M,
        first: usize,
        points: &Columns,
        around: &Surroundings<V>,
        mut results: Results<V>,
    ) {
        let Surroundings { positions, grid, boundary, lightness, .. } = *around;
        self.clear();
        let end = first + results.densities.len();
        self.entries.resize(end - first, Entry::default());
        self.reach = Bounds::of(first as u32);
        let mut fluid_rows = Around::new::<V>(grid);
        let mut boundary_rows = Beside::new(boundary.grid());
        // Apart from the lists, which take in what it finds.
        let mut batch = core::mem::take(&mut self.batch);
        let (mut i, mut cell) = (first, grid.cell_of(first));
        while i < end {
            let batch_first = i;
            batch.clear();
            while i < end.min(batch_first + Batch::<V>::FULL) {
                let own = i..grid.points_of(cell).end.min(end);
                i = own.end;
                let extent = Extent::of(&positions[own.clone()]);
                let rows = fluid_rows.to::<V>(cell);
                cell += 1;
                self.reach = self.reach.and(rows.bounds());
                batch.add(machine, own, extent, points, rows, around);
            }
            machine.run(Sift { batch: &mut batch, around });
            let local = batch_first - first..i - first;
            machine.run(Evaluate::<V, MIXED> {
                batch: &batch,
                first: batch_first,
                around,
                lists: &mut self.fluid,
                entries: &mut self.entries[local.clone()],
                results: results.of(local),
            });
            for cell in batch.cells() {
                let Some(rows) = boundary_rows.to(positions[cell.own.start]) else {
                    if boundary_rows.is_empty(positions[i - 1]) {
                        break;
                    }
                    self.end_walls(cell.own.end - first);
                    continue;
                };
                let results = results.of(cell.own.start - first..cell.own.end - first);
                self.add_walls(cell.own.clone(), rows, &cell.extent, around, results);
            }
            self.end_walls(i - first);
        }
        self.batch = batch;
        let sums = results.gradient_sums.iter().zip(&lightness[first..end]);
        for (diagonal, (sum, lightness)) in results.diagonals.iter_mut().zip(sums) {
            *diagonal += sum.length_squared() * lightness;
        }
    }

    /// Ends the lists of samples of all particles up to the chunk's `local`.
    fn end_walls(&mut self, local: usize) {
        self.boundary_ends.resize(local, self.boundary.len() as u32);
    }

    /// Finds the samples in the rows around a cell that are neighbours of its particles
    /// `own`, and adds what they make up of the results.
    fn add_walls(
        &mut self,
        own: Range<usize>,
        rows: &Rows,
        extent: &Extent<V>,
        around: &Surroundings<V>,
        results: Results<V>,
    ) {
        let Surroundings { positions, places, boundary, kernel, .. } = *around;
        self.walls.clear();
        self.walls.extend(rows.points().map(|k| k as u32).filter(|&k| {
            let sample = boundary.positions()[k as usize];
            extent.distance_squared(sample) < around.reach_squared()
        }));
        for (local, i) in own.enumerate() {
            let before = self.boundary.len();
            for &k in &self.walls {
                let offset = positions[i] - boundary.positions()[k as usize];
                if offset.length_squared() < around.reach_squared() {
                    self.boundary.push(k);
                    let volume = boundary.volumes()[k as usize];
                    results.densities[local] += volume * kernel.value(offset.length_squared());
                    let gradient = kernel.pair_gradient(offset, places[i], u32::MAX - k);
                    results.gradient_sums[local] += gradient * volume;
                }
            }
            results.counts[local] += (self.boundary.len() - before) as u32;
            self.boundary_ends.push(self.boundary.len() as u32);
        }
    }
}

/// The search for the neighbours of a chunk's particles.
struct Search<'a, 'b, V: Vector> {
    chunk: &'a mut NeighborChunk<V>,
    first: usize,
    points: &'a Columns,
    around: &'a Surroundings<'b, V>,
    results: Results<'a, V>,
}

impl<V: Vector> Task for Search<'_, '_, V> {
    #[inline(always)]
    fn run<M: Machine>(self, machine: M) {
        let Self { chunk, first, points, around, results } = self;
        if around.mixed {
            chunk.find::<M, true>(machine, first, points, around, results);
        } else {
            chunk.find::<M, false>(machine, first, points, around, results);
        }
    }
}

/// Neighbour lists of all particles of a world.
#[derive(Debug, Default)]
pub(crate) struct NeighborLists<V: Vector> {
    points: Columns,
    /// The positions once more, where lists keep factors of offsets.
    wide_points: Vec<V::Wide>,
    chunks: Vec<NeighborChunk<V>>,
    used: usize,
}

impl<V: Vector> NeighborLists<V> {
    /// Finds the neighbours of all particles, and what follows from their positions.
    pub(crate) fn find(&mut self, threads: Threads, around: &Surroundings<V>, results: Results<V>) {
        self.points.set(around.positions, threads);
        let points = core::mem::take(&mut self.points);
        self.for_each(threads, around, results, |chunk, first, results| {
            wide::run(Search { chunk, first, points: &points, around, results });
        });
        self.points = points;
    }

    /// Calls `search` with each chunk, its first particle and its results.
    fn for_each(
        &mut self,
        threads: Threads,
        around: &Surroundings<V>,
        results: Results<V>,
        search: impl Fn(&mut NeighborChunk<V>, usize, Results<V>) + Sync,
    ) {
        self.used = around.positions.len().div_ceil(CHUNK);
        if self.chunks.len() < self.used {
            self.chunks.resize_with(self.used, Default::default);
        }
        if V::FACTORS {
            self.wide_points.resize(around.positions.len(), V::Wide::default());
            let both = (chunks_mut(&mut self.wide_points), chunks(around.positions));
            for_each_chunk(threads, both, |(points, positions)| {
                points.iter_mut().zip(positions).for_each(|(point, &x)| *point = x.widen());
            });
        }
        let Results { densities, gradient_sums, diagonals, counts } = results;
        let parts = (
            numbers(),
            &mut self.chunks[..self.used],
            chunks_mut(densities),
            chunks_mut(gradient_sums),
            chunks_mut(diagonals),
            chunks_mut(counts),
        );
        for_each_chunk(threads, parts, |part| {
            let (index, chunk, densities, gradient_sums, diagonals, counts) = part;
            let results = Results { densities, gradient_sums, diagonals, counts };
            search(chunk, index * CHUNK, results);
        });
    }

    /// The chunks of the particles, in order.
    pub(crate) fn chunks(&self) -> AllLists<'_, V> {
        AllLists { chunks: &self.chunks[..self.used], points: &self.wide_points, first: 0 }
    }

    /// The particles of all chunks in which any two are at one place.
    pub(crate) fn coincident(&self) -> impl Iterator<Item = usize> + '_ {
        let chunks = self.chunks[..self.used].iter().enumerate();
        let found = chunks.filter(|(_, chunk)| chunk.fluid.coincident);
        found.flat_map(|(index, chunk)| (0..chunk.entries.len()).map(move |k| index * CHUNK + k))
    }

    /// The chunk of a particle and the particle's place in it.
    #[inline(always)]
    pub(crate) fn of(&self, particle: usize) -> (ChunkLists<'_, V>, usize) {
        let local = particle % CHUNK;
        let chunk = &self.chunks[particle / CHUNK];
        (ChunkLists { chunk, points: &self.wide_points, first: particle - local }, local)
    }

    /// The lists of the particles from `first` on, which must be there.
    pub(crate) fn successive(&self, first: usize) -> Successive<'_, V> {
        Successive::new(self, first)
    }

    /// Bytes of all lists.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<V::Wide>() * self.wide_points.capacity()
            + self.points.bytes()
            + self.chunks.iter().map(NeighborChunk::bytes).sum::<usize>()
    }
}

/// The oracle of the search: every pair tested, O(n²).
#[cfg(test)]
pub(crate) fn brute_force<V: Vector>(
    points: &[V],
    others: &[V],
    support_radius: f32,
) -> Vec<Vec<u32>> {
    let reach2 = support_radius * support_radius * super::kernel::REACH_SQUARED;
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
    use super::super::boundary::BoundarySet;
    use super::super::grid::CellGrid;
    use super::super::kernel::CubicSpline;
    use super::*;
    use crate::solver::wide::Plain;
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

    /// The sums of a particle against plain loops over its neighbours.
    fn check_sums<V: Vector>(
        i: usize,
        around: &Surroundings<V>,
        fluid: &[u32],
        walls: &[u32],
        density: f32,
        gradient_sum: V,
        diagonal: f32,
    ) {
        let Surroundings { positions, kernel, volume, boundary, places, .. } = *around;
        let mut expected = kernel.center() * volume;
        let (mut sum, mut squares) = (V::ZERO, 0.0);
        for &j in fluid {
            let offset = positions[i] - positions[j as usize];
            expected += volume * kernel.value(offset.length_squared());
            let gradient = kernel.pair_gradient(offset, places[i], places[j as usize]) * volume;
            sum += gradient;
            squares += gradient.length_squared();
        }
        for &k in walls {
            let offset = positions[i] - boundary.positions()[k as usize];
            let volume = boundary.volumes()[k as usize];
            expected += volume * kernel.value(offset.length_squared());
            sum += kernel.pair_gradient(offset, places[i], u32::MAX - k) * volume;
        }
        assert!((density - expected).abs() <= 1e-4 * expected, "{density} {expected}");
        let scale = squares.sqrt() * (fluid.len() as f32).sqrt() + Vector::length(sum);
        assert!(Vector::length(gradient_sum - sum) <= 1e-4 * scale, "{gradient_sum:?} {sum:?}");
        let expected = Vector::length_squared(sum) + squares;
        assert!((diagonal - expected).abs() <= 1e-3 * expected, "{diagonal} {expected}");
    }

    fn check<V: Vector>(points: &[V], samples: &[V], support_radius: f32, threads: Threads) {
        let ids: Vec<u32> = (0..points.len() as u32).collect();
        let mut grid = CellGrid::default();
        grid.sort(points, &ids, support_radius * CELL_FACTOR, threads);
        let positions: Vec<V> = (0..grid.len()).map(|sorted| points[grid.point(sorted)]).collect();
        let mut boundary = BoundarySet::default();
        boundary.rebuild(samples, support_radius);
        let mut lists = NeighborLists::default();
        let kernel = CubicSpline::new(support_radius);
        let (mut densities, mut diagonals) = (vec![0.0; points.len()], vec![0.0; points.len()]);
        let (mut gradient_sums, mut counts) = (vec![V::ZERO; points.len()], vec![0; points.len()]);
        let around = Surroundings {
            positions: &positions,
            places: &ids,
            lightness: &vec![1.0; points.len()],
            grid: &grid,
            boundary: &boundary,
            kernel: &kernel,
            volume: 0.5,
            mixed: false,
        };
        let results = Results {
            densities: &mut densities,
            gradient_sums: &mut gradient_sums,
            diagonals: &mut diagonals,
            counts: &mut counts,
        };
        lists.find(threads, &around, results);
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
            assert_eq!(counts[i] as usize, expected.len() + walls[i].len());
            check_sums(
                i,
                &around,
                &expected,
                &walls[i],
                densities[i],
                gradient_sums[i],
                diagonals[i],
            );
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

    /// The lists of all points, as one chunk, and the densities.
    fn search<V: Vector>(
        points: &[V],
        support_radius: f32,
        search: impl Fn(Search<V>),
    ) -> (NeighborChunk<V>, Vec<f32>) {
        let ids: Vec<u32> = (0..points.len() as u32).collect();
        let mut grid = CellGrid::default();
        grid.sort(points, &ids, support_radius * CELL_FACTOR, Threads::Serial);
        let positions: Vec<V> = (0..grid.len()).map(|sorted| points[grid.point(sorted)]).collect();
        let mut places = Columns::default();
        places.set(&positions, Threads::Serial);
        let (mut densities, mut diagonals) = (vec![0.0; points.len()], vec![0.0; points.len()]);
        let (mut gradient_sums, mut counts) = (vec![V::ZERO; points.len()], vec![0; points.len()]);
        let mut chunk = NeighborChunk::default();
        search(Search {
            chunk: &mut chunk,
            first: 0,
            points: &places,
            around: &Surroundings {
                positions: &positions,
                places: &ids,
                lightness: &vec![1.0; points.len()],
                grid: &grid,
                boundary: &BoundarySet::default(),
                kernel: &CubicSpline::new(support_radius),
                volume: 0.5,
                mixed: true,
            },
            results: Results {
                densities: &mut densities,
                gradient_sums: &mut gradient_sums,
                diagonals: &mut diagonals,
                counts: &mut counts,
            },
        });
        (chunk, densities)
    }

    #[test]
    fn lists_are_the_same_bits_by_all_instructions() {
        fn check<V: Vector>(support_radius: f32) {
            let points = cloud::<V>(3000);
            let (best, densities) = search(&points, support_radius, |task| wide::run(task));
            let (plain, expected) = search(&points, support_radius, |task| Plain.run(task));
            let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
            let used = best.fluid.used;
            assert_eq!(used, plain.fluid.used);
            assert_eq!(best.fluid.indices[..used], plain.fluid.indices[..used]);
            assert_eq!(bits(&best.fluid.weights[..used]), bits(&plain.fluid.weights[..used]));
            let numbers = used * V::NUMBERS;
            assert_eq!(bits(&best.fluid.numbers[..numbers]), bits(&plain.fluid.numbers[..numbers]));
            assert_eq!(bits(&densities), bits(&expected));
        }
        check::<Vec2>(0.08);
        check::<Vec3>(0.15);
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
