import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET_BYTES = 32;

/** Secrets that clients show. Only their hashes are kept, in memory. */
export class Secrets {
  /** The newest last. */
  readonly #digests: Buffer[];

  constructor(secrets: readonly string[] = []) {
    this.#digests = secrets.map(digest);
  }

  get isEmpty(): boolean {
    return this.#digests.length === 0;
  }

  /** Adds a new secret; `most`: the oldest beyond this many are forgotten. */
  issue(most = Infinity): string {
    const secret = newSecret();
    this.#digests.push(digest(secret));
    if (this.#digests.length > most) this.#digests.shift();
    return secret;
  }

  has(secret: string): boolean {
    return this.#indexOf(secret) >= 0;
  }

  /** Removes a secret; false if there is none such. */
  take(secret: string): boolean {
    const at = this.#indexOf(secret);
    if (at >= 0) this.#digests.splice(at, 1);
    return at >= 0;
  }

  /** Compares with every entry, so that the time does not reveal which one matches. */
  #indexOf(secret: string): number {
    const given = digest(secret);
    return this.#digests.map((one) => timingSafeEqual(given, one)).indexOf(true);
  }
}

/** 256 random bits, for URLs and cookies. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
