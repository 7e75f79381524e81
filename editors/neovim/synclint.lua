-- synclint in Neovim 0.7 and later, without plugins: put this file into ~/.config/nvim/plugin/.
-- From 0.11 on the lines with vim.lsp.config in docs/editors.md do the same.

local function root(buffer)
  local markers = { 'synclint.toml', '.synclint.toml', '.git' }
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':p:h')
  while true do
    for _, marker in ipairs(markers) do
      if vim.loop.fs_stat(folder .. '/' .. marker) then
        return folder
      end
    end
    local above = vim.fn.fnamemodify(folder, ':h')
    if above == folder then
      return nil
    end
    folder = above
  end
end

local clients = {}

vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'cuda', 'c', 'cpp' },
  callback = function(event)
    local folder = root(event.buf) or vim.fn.getcwd()
    clients[folder] = clients[folder]
      or vim.lsp.start_client({ name = 'synclint', cmd = { 'synclint', 'lsp' }, root_dir = folder })
    vim.lsp.buf_attach_client(event.buf, clients[folder])
  end,
})
