// The client of `cumetal lsp`. Everything that is known of PTX is in the server.
'use strict';
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

/** @type {LanguageClient | undefined} */
let client;

/** The words that start cumetal: those of the settings, the program of an open folder, or the one on the PATH. */
function commandWords() {
  const words = vscode.workspace.getConfiguration('cumetal').get('command', []);
  if (words.length > 0) return words;
  const name = process.platform === 'win32' ? 'cumetal.cmd' : 'cumetal';
  const inFolders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => join(uri.fsPath, 'node_modules', '.bin', name));
  return [inFolders.find((path) => existsSync(path)) ?? name];
}

async function start() {
  const [command, ...words] = commandWords();
  const target = vscode.workspace.getConfiguration('cumetal').get('target', '');
  const args = [...words, 'lsp', '--stdio', ...(target === '' ? [] : ['--target', target])];
  client = new LanguageClient('cumetal', 'cumetal', { command, args }, { documentSelector: [{ language: 'ptx' }] });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const message = `cumetal does not start (${error instanceof Error ? error.message : error}). Install it with "npm install cumetal", or name it in the setting cumetal.command.`;
    void vscode.window.showErrorMessage(message);
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand('cumetal.restart', async () => {
      await client?.stop();
      await start();
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
