import { randomBytes, randomUUID } from 'node:crypto';
import type { Side } from './rules.ts';

type ClosedBy = 'person' | 'lifetime';

/** A tunnel, open or closed. */
export interface Tunnel {
  readonly tunnelId: string;
  /** Serial number of the device that was named when it was opened. */
  readonly serial: string;
  readonly services: readonly string[];
  /** In the notifications. */
  readonly region: string;
  /** UTC by the clock of the cloud. */
  readonly openedAt: string;
  /** By the clock of the service, see `createServiceTime`. */
  readonly endsMs: number;
  closedBy: ClosedBy | null;
}

interface Token {
  readonly tunnel: Tunnel;
  readonly side: Side;
  isRevoked: boolean;
  isUsed: boolean;
  /** Of the first handshake; null: it had none. */
  clientToken: string | null;
}

/** Why a handshake is refused, as the body of status 400. */
export type TokenRefusal = { readonly reason: string; readonly tunnel: Tunnel | null };
export type TokenCheck = { readonly tunnel: Tunnel; use(): void } | TokenRefusal;

/** @source vendor (HINWEIS) */
const CLIENT_TOKEN = /^[a-zA-Z0-9-]{32,128}$/;
/** The length is not known; those of the vendor have several hundred characters. */
const TOKEN_BYTES = 288;
const MAX_KEPT = 1_000;

/** Tunnels and their tokens. A token works once, unless its first handshake had the client token of the later ones. */
export function createRegistry() {
  const tunnels = new Map<string, Tunnel>();
  const tokens = new Map<string, Token>();

  function newToken(tunnel: Tunnel, side: Side): string {
    for (const token of tokens.values()) if (token.tunnel === tunnel && token.side === side) token.isRevoked = true;
    const text = randomBytes(TOKEN_BYTES).toString('base64url');
    tokens.set(text, { tunnel, side, isRevoked: false, isUsed: false, clientToken: null });
    return text;
  }

  return {
    add(about: Omit<Tunnel, 'tunnelId' | 'closedBy'>): Tunnel {
      const tunnel: Tunnel = { ...about, tunnelId: randomUUID(), closedBy: null };
      tunnels.set(tunnel.tunnelId, tunnel);
      for (const [tunnelId, old] of tunnels) {
        if (tunnels.size <= MAX_KEPT) break;
        if (old.closedBy === null) continue;
        tunnels.delete(tunnelId);
        for (const [text, token] of tokens) if (token.tunnel === old) tokens.delete(text);
      }
      return tunnel;
    },
    /** Makes a token for a side and revokes the one before. */
    newToken,
    get: (tunnelId: string) => tunnels.get(tunnelId),
    all: () => [...tunnels.values()],

    /** Whether a handshake may connect; `use` must be called when it has. */
    check(text: string, side: Side, clientToken: string | null): TokenCheck {
      const token = tokens.get(text);
      const refuse = (reason: string): TokenRefusal => ({ reason, tunnel: token?.tunnel ?? null });
      if (token === undefined) return refuse('Invalid access token');
      if (token.tunnel.closedBy !== null) return refuse('Invalid access token: the tunnel is closed');
      if (token.isRevoked) return refuse('Invalid access token: it was rotated');
      if (token.side !== side) return refuse('Invalid access token: it is for the other mode');
      if (clientToken !== null && !CLIENT_TOKEN.test(clientToken)) return refuse('Invalid client token');
      if (token.isUsed && token.clientToken === null) return refuse('Invalid access token: it was previously used');
      if (token.isUsed && clientToken === null) return refuse('Invalid access token: it was previously used');
      if (token.isUsed && clientToken !== token.clientToken) {
        return refuse('Invalid client token: it does not match the access token');
      }
      if (clientToken !== null && isPairedElsewhere(clientToken, token)) {
        return refuse('Invalid client token: it belongs to another access token');
      }
      const { tunnel } = token;
      return {
        tunnel,
        use() {
          token.isUsed = true;
          token.clientToken = clientToken;
        },
      };
    },
  };

  /** Only of open tunnels. */
  function isPairedElsewhere(clientToken: string, own: Token): boolean {
    for (const token of tokens.values()) {
      if (token !== own && token.clientToken === clientToken && token.tunnel.closedBy === null) return true;
    }
    return false;
  }
}

export type Registry = ReturnType<typeof createRegistry>;
