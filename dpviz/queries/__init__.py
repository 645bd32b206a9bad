"""What will be asked of a release, stated before it is made: workloads, and wishes for answers."""
