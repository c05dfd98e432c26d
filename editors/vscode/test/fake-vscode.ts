/** As much of VS Code's API as the unit tests need. */

type Listener<T> = (event: T) => void;

class Disposable {
  constructor(readonly dispose: () => void) {}

  static from(...all: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => all.forEach((one) => one.dispose()));
  }
}

class EventEmitter<T> {
  private listeners: Listener<T>[] = [];

  readonly event = (listener: Listener<T>): Disposable => {
    this.listeners.push(listener);
    return new Disposable(() => (this.listeners = this.listeners.filter((other) => other !== listener)));
  };

  fire(event: T): void {
    for (const listener of this.listeners) listener(event);
  }

  dispose(): void {
    this.listeners = [];
  }
}

class Uri {
  constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = "",
  ) {}

  static file(path: string): Uri {
    return new Uri("file", path);
  }

  static joinPath(base: Uri, path: string): Uri {
    return new Uri(base.scheme, `${base.path}/${path}`);
  }

  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
}

class Range {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

class CodeLens {
  constructor(
    readonly range: Range,
    readonly command: unknown,
  ) {}
}

class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState: number,
  ) {}
}

class MarkdownString {
  readonly appendText = () => this;
  readonly appendMarkdown = () => this;
  readonly appendCodeblock = () => this;
}

class ThemeIcon {
  static readonly Folder = new ThemeIcon("folder");

  constructor(readonly id: string) {}
}

const nothing = () => new Disposable(() => undefined);
const workspaceFolders = [{ uri: new Uri("file", "/home/u/app"), name: "app", index: 0 }];

const show = () => Promise.resolve(undefined);

const workspace = {
  isTrusted: true,
  workspaceFolders,
  getConfiguration: () => ({ get: (_: string, otherwise: unknown) => otherwise }),
  onDidChangeTextDocument: nothing,
  onDidSaveTextDocument: nothing,
  onDidChangeConfiguration: nothing,
};
const withProgress = (_: unknown, work: () => Promise<unknown>) => work();
const treeView = { visible: true, onDidCollapseElement: nothing, onDidExpandElement: nothing, dispose: () => undefined };
const window = {
  showErrorMessage: show,
  showWarningMessage: show,
  showInformationMessage: show,
  showQuickPick: show,
  setStatusBarMessage: show,
  createTreeView: () => treeView,
  withProgress,
};
const commands = { executeCommand: show };
const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
const ProgressLocation = { Notification: 15 };

export {
  CodeLens,
  commands,
  Disposable,
  EventEmitter,
  MarkdownString,
  ProgressLocation,
  Range,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  Uri,
  window,
  workspace,
};
