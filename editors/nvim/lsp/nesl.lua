-- The server of NESL programs, for `vim.lsp.enable("nesl")` of Neovim 0.11.
return { cmd = { "nesl", "lsp" }, filetypes = { "nesl", "nesl_v" }, root_markers = { ".git" } }
