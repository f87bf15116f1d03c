"""The joint charts of the tool runner: every state that an iteration, its response and its calls can be in."""
