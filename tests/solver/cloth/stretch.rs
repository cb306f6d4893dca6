//! How much a cloth stretches, whatever its resolution.

use super::support::{pinned_sheet, run};

#[test]
fn two_corners_hold_a_sheet_of_any_resolution_to_a_percent() {
    for n in [10, 40, 100] {
        let mut cloth = pinned_sheet(n);
        run(&mut cloth, 10.0);
        let stats = cloth.stats();
        println!(
            "{n}: {:.3} % at most, {:.4} % in the mean",
            stats.max_strain * 100.0,
            stats.mean_strain * 100.0
        );
        assert!(stats.max_strain < 0.005 && stats.mean_strain < 0.0005, "{n}: {stats:?}");
        assert!(stats.max_speed < 0.05, "{n} trembles: {stats:?}");
    }
}
