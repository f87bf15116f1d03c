"""Pictures of charts, traces and coverage, generated and never drawn by hand."""
