//! A step in steady state allocates nothing.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bevy_fluid::solver::cloth::collision::{Collider, ColliderShape};
use bevy_fluid::solver::cloth::{Cloth, ClothMesh, ClothScheme, ClothSettings, Surroundings};
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
        // Deep enough for the coarse grid.
        let mut flat = tank(10, 60, 5);
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
fn step_of_a_cloth_allocates_nothing() {
    let floor = Collider::new(ColliderShape::Plane, Vec3::Y * -0.5);
    let mesh = ClothMesh::grid(Vec3::ZERO, Vec3::X * 0.1, Vec3::Z * 0.1, 10, 10).unwrap();
    let indices: Vec<u32> = mesh.triangles.iter().flatten().copied().collect();
    let welded = ClothMesh::from_triangles(&mesh.positions, &indices).unwrap();
    for mesh in [mesh, welded] {
        for scheme in ClothScheme::ALL {
            let mut cloth = Cloth::new(mesh.clone(), 0.01).unwrap();
            let settings = ClothSettings { scheme, ..ClothSettings::default() };
            cloth.set_settings(settings).unwrap();
            cloth.pin(0).unwrap();
            cloth.grab(99).unwrap();
            let colliders = [floor.clone()];
            let around =
                Surroundings { colliders: &colliders, wind: Vec3::Z, ..Surroundings::default() };
            cloth.step(1.0 / 60.0, &around).unwrap();
            let steps = |cloth: &mut Cloth<Vec3>| {
                for frame in 0..20 {
                    cloth.drag_to(Vec3::new(0.9, 0.01 * frame as f32, 0.9)).unwrap();
                    cloth.step(1.0 / 60.0, &around).unwrap();
                }
            };
            assert_eq!(allocations(|| steps(&mut cloth)), 0, "{scheme:?}");
        }
    }
}

#[test]
fn cloth_that_has_come_to_lie_on_itself_allocates_nothing() {
    let solids = [
        Collider::new(ColliderShape::Plane, Vec3::Y * -0.2),
        Collider::new(ColliderShape::Ball { radius: 0.1 }, Vec3::new(0.5, -0.2, 0.5)),
    ];
    let around = Surroundings { colliders: &solids, ..Surroundings::default() };
    for scheme in [ClothScheme::Fast, ClothScheme::Accurate] {
        let mesh = ClothMesh::grid(Vec3::ZERO, Vec3::X * 0.1, Vec3::Z * 0.1, 10, 10).unwrap();
        let mut cloth = Cloth::new(mesh, 0.01).unwrap();
        let self_thickness = 0.02;
        let settings = ClothSettings { scheme, self_thickness, ..ClothSettings::default() };
        cloth.set_settings(settings).unwrap();
        // Folded over onto itself.
        for x in cloth.positions_mut() {
            if x.x > 0.55 {
                (x.x, x.y) = (1.1 - x.x, 0.1);
            }
        }
        let mut steps = |count| (0..count).for_each(|_| cloth.step(1.0 / 60.0, &around).unwrap());
        steps(240);
        assert_eq!(allocations(|| steps(20)), 0, "{scheme:?}");
    }
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
        // A list may still grow once, on whichever thread has its turn.
        let steps =
            (0..8).map(|_| allocations(|| drop(simulation.step(0.002, Threads::Pool(&pool)))));
        steps.min().unwrap()
    });
    // Two tasks and the scope's own cells for each pass over the particles.
    assert!(many <= few + few / 4 + 8, "{few} with 4,800 particles, {many} with 9,600");
}
