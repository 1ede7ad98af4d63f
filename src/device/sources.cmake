target_sources(nicmon_core PRIVATE)
