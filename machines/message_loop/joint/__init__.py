"""The joint charts of a message loop: what a chat turn and its calls can be in together."""
