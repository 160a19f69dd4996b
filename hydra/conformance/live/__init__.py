"""The installed CLIs in situations: files of data, each run as a race and held against its own."""
