"""AMD hardware under ROCm as a back end."""
