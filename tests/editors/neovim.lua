-- Run by tests/editors.sh in a folder with a kernel: diagnostics come, move with the text, and hovering explains.

local function fail(what)
  io.stderr:write('neovim: ' .. what .. '\n')
  vim.cmd('cquit 1')
end

local function wait_for(count)
  local came = vim.wait(60000, function()
    return #vim.diagnostic.get(0) == count
  end, 50)
  if not came then
    fail(('%d diagnostics wanted, there are %s'):format(count, vim.inspect(vim.diagnostic.get(0))))
  end
end

vim.cmd('edit kernel.cu')
wait_for(1)
local found = vim.diagnostic.get(0)[1]
if found.lnum ~= 4 or found.code ~= 'divergent-branch' or found.source ~= 'synclint' then
  fail(vim.inspect(found))
end

local question = { textDocument = vim.lsp.util.make_text_document_params(), position = { line = 2, character = 8 } }
local answers = vim.lsp.buf_request_sync(0, 'textDocument/hover', question, 60000)
local _, answer = next(answers or {})
if not (answer and answer.result and answer.result.contents.value:find('differs from thread to thread', 1, true)) then
  fail(vim.inspect(answers))
end

-- Out of the branch, as the help says; unsaved.
vim.api.nvim_buf_set_lines(0, 4, 5, false, {})
wait_for(0)
vim.api.nvim_buf_set_lines(0, 5, 5, false, { '    __syncthreads(); // ä𝄞', '    if (i > 3) __syncthreads();' })
wait_for(1)
print('neovim ' .. tostring(vim.version().minor) .. ': diagnostics come and go with the text, hovering explains\n')
vim.cmd('quitall!')
