// Starts `synclint lsp`, and shows the pages of rules that its diagnostics link to.

import * as vscode from "vscode";
import { DocumentFilter, LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

/** The scheme of links to rule pages: `synclint:/rules/divergent-branch.md`. */
const SCHEME = "synclint";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, { provideTextDocumentContent: rulePage }),
    vscode.commands.registerCommand("synclint.restart", restart),
    vscode.commands.registerCommand("synclint.explain", explain),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("synclint.path") || change.affectsConfiguration("synclint.headers")) {
        await restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("synclint");
  const command = settings.get<string>("path", "synclint");
  const languages = ["cuda-cpp", "cuda"].concat(settings.get<boolean>("headers", true) ? ["cpp", "c"] : []);
  const selector: DocumentFilter[] = languages.map((language) => ({ scheme: "file", language }));
  selector.push({ scheme: "file", pattern: "**/*.{cu,cuh,hip}" });
  const server: ServerOptions = { command, args: ["lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: selector,
    initializationOptions: { rulePages: true },
  };
  client = new LanguageClient("synclint", "synclint", server, options);
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const install = "Set its path";
    const answer = await vscode.window.showErrorMessage(`synclint cannot be started as \`${command}\`: ${error}`, install);
    if (answer === install) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "synclint.path");
    }
  }
}

async function restart(): Promise<void> {
  await client?.stop();
  await start();
}

async function rulePage(uri: vscode.Uri): Promise<string> {
  const rule = uri.path.replace(/^\/rules\//, "").replace(/\.md$/, "");
  const page = await client?.sendRequest<{ text: string } | null>("synclint/rulePage", { rule });
  return page?.text ?? `There is no rule \`${rule}\`.`;
}

async function explain(): Promise<void> {
  const seen = vscode.languages.getDiagnostics().flatMap(([, diagnostics]) => diagnostics);
  const rules = new Set<string>();
  for (const { source, code } of seen) {
    const name = typeof code === "object" ? code.value : code;
    if (source === "synclint" && typeof name === "string") {
      rules.add(name);
    }
  }
  const rule = await vscode.window.showQuickPick([...rules].sort(), { placeHolder: "Rules found in this workspace" });
  if (rule) {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/rules/${rule}.md` });
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  }
}
