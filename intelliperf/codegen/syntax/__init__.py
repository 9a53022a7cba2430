"""Reading of HIP and CUDA sources: clang's tree for meaning, tree-sitter's for layout."""
