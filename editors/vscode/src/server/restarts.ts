/** How often a server that ends by itself is started again. */

const AT_MOST = 4;
const WITHIN_MS = 3 * 60_000;

export class Restarts {
  private times: number[] = [];

  /** Whether it may be started once more; counts it if so. */
  allow(now: number): boolean {
    this.times = this.times.filter((time) => now - time < WITHIN_MS);
    if (this.times.length >= AT_MOST) return false;
    this.times.push(now);
    return true;
  }

  forget(): void {
    this.times = [];
  }
}
