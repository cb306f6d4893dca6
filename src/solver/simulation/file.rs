//! Saved states in files.

use bevy_math::{Vec2, Vec3};

use super::SimulationState;
use crate::solver::scene::SceneError;

/// A saved state in a file, of either dimension. RON, as scenes are: it reads
/// back every number bit for bit, those that are not finite too.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum StateFile {
    /// In the plane.
    State2d(SimulationState<Vec2>),
    /// In space.
    State3d(SimulationState<Vec3>),
}

impl StateFile {
    /// Reads the text of a file; `file` is its name in errors. Values are
    /// checked by [`Simulation::from_state`](super::Simulation::from_state).
    ///
    /// # Errors
    /// [`SceneError::Text`] with the place of the first thing that is wrong.
    pub fn parse(file: &str, text: &str) -> Result<Self, SceneError> {
        ron::from_str(text).map_err(|error| SceneError::text(file, &error))
    }

    /// The text of a file.
    ///
    /// # Errors
    /// [`ron::Error`] if a value of the state cannot be written.
    pub fn to_ron(&self) -> ron::Result<String> {
        ron::to_string(self)
    }
}

macro_rules! of_dimension {
    ($vector:ty, $variant:ident) => {
        impl From<SimulationState<$vector>> for StateFile {
            fn from(state: SimulationState<$vector>) -> Self {
                Self::$variant(state)
            }
        }

        impl TryFrom<StateFile> for SimulationState<$vector> {
            type Error = StateFile;

            /// The state, or the file if it is of the other dimension.
            fn try_from(file: StateFile) -> Result<Self, StateFile> {
                if let StateFile::$variant(state) = file { Ok(state) } else { Err(file) }
            }
        }
    };
}

of_dimension!(Vec2, State2d);
of_dimension!(Vec3, State3d);
