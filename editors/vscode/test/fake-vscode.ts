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
  ) {}

  static joinPath(base: Uri, path: string): Uri {
    return new Uri(base.scheme, `${base.path}/${path}`);
  }

  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
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
};
const withProgress = (_: unknown, work: () => Promise<unknown>) => work();
const window = { showErrorMessage: show, showWarningMessage: show, showInformationMessage: show, setStatusBarMessage: show, withProgress };
const ProgressLocation = { Notification: 15 };

export { Disposable, EventEmitter, ProgressLocation, Uri, window, workspace };
