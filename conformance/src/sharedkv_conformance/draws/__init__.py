"""How histories are drawn, by facet."""
