-- Colours by tree-sitter in NESL and V, where their parsers are installed; by the Vim syntax where they are not.
vim.api.nvim_create_autocmd("FileType", {
  pattern = { "nesl", "nesl_v" },
  callback = function(event)
    pcall(function() vim.treesitter.start(event.buf, event.match) end)
  end,
})
