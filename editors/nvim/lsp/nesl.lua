-- The server of NESL programs, for `vim.lsp.enable("nesl")` of Neovim 0.11.
return { cmd = { "nesl", "lsp" }, filetypes = { "nesl" }, root_markers = { ".git" } }
