"""Golden ids: a pack of texts with the ids they must get, for anybody's implementation in any language."""
