//! Water, smoke and cloth for Bevy games.
