//! A step in steady state allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bevy_fluid::solver::parallel::Threads;
use bevy_fluid::solver::settings::PressureSolver;
use bevy_math::{Vec2, Vec3};
use bevy_tasks::TaskPoolBuilder;

use crate::support::{D, block, container, start, tank, void};

/// The system's allocator, counting what each thread asks for.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no counter any more.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as of the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as of the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as of the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread in `work`.
pub fn allocations(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

#[test]
fn step_at_rest_allocates_nothing() {
    for solver in PressureSolver::ALL {
        let mut flat = tank(20, 30, 5);
        flat.dfsph.solver = solver;
        let mut simulation = start(&flat);
        let steps = |simulation: &mut bevy_fluid::solver::simulation::Simulation<Vec2>, count| {
            for _ in 0..count {
                let dt = simulation.next_step();
                let _ = simulation.step(dt, Threads::Serial);
            }
        };
        steps(&mut simulation, 300);
        assert_eq!(allocations(|| steps(&mut simulation, 20)), 0, "{solver:?}");
    }
    let mut solid = void::<Vec3>();
    solid.fluids.push(block(Vec3::splat(0.6 * D), [8, 10, 8]));
    solid.boundaries.push(container(Vec3::new(9.2, 14.0, 9.2) * D));
    let mut simulation = start(&solid);
    for _ in 0..300 {
        simulation.step(0.005, Threads::Serial).unwrap();
    }
    assert_eq!(allocations(|| drop(simulation.step(0.005, Threads::Serial))), 0);
    assert!(allocations(|| drop(vec![0; 10])) > 0, "the counter counts");
}

#[test]
fn allocations_of_a_step_on_several_threads_do_not_grow_with_the_particles() {
    let pool = TaskPoolBuilder::new().num_threads(2).build();
    let [few, many] = [60, 120].map(|columns| {
        let mut scene = tank(columns, 80, 5);
        scene.dfsph.max_density_iterations = 2;
        scene.dfsph.max_divergence_iterations = 2;
        let mut simulation = start(&scene);
        for _ in 0..60 {
            simulation.step(0.002, Threads::Pool(&pool)).unwrap();
        }
        allocations(|| drop(simulation.step(0.002, Threads::Pool(&pool))))
    });
    // Two tasks and the scope's own cells for each pass over the particles.
    assert!(many <= few + few / 4 + 8, "{few} with 4,800 particles, {many} with 9,600");
}
