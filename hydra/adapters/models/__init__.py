"""What Hydra knows of models: names, windows, prices with their day and source. Loaded only where
a model is named (docs/reference/doctor.md)."""
