"""Private event histograms of trips on road networks: graph, truncation, sub-domains, trees."""
