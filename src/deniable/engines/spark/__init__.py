"""Apache Spark, in this process or through Spark Connect."""
