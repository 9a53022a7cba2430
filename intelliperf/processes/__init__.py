"""Every process that is not ours: started, confined, ended, and what it wrote."""
