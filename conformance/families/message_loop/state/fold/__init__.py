"""The fold: a function for each stimulus, and for each kind of observation, that takes it into the state."""
