import { constants, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import ssh2, { type ParsedKey } from 'ssh2';
import type { Clock } from '../../../lifecycle/index.ts';
import type { HostSettings } from '../config/config.ts';
import { foreignText } from '../foreign-text.ts';
import type { SecretQuestion } from '../model.ts';
import { parsePrivateKey } from './private-key.ts';

/** A key that can be offered. A passphrase is asked for only once the server accepts the public key. */
export interface Identity {
  /** Name in messages: the path of the file, or the key comment of the agent. */
  readonly label: string;
  publicKey(): Promise<ParsedKey>;
  sign(data: Buffer, hash: Hash): Promise<Buffer>;
}

/** Set for key types with several signature algorithms only. */
type Hash = 'sha1' | 'sha256' | 'sha512' | undefined;

export interface Identities {
  readonly offers: readonly Identity[];
  /** Why expected keys cannot be used, in sentences; grows while keys are tried. */
  readonly problems: readonly string[];
}

export interface IdentityContext {
  readonly clock: Clock;
  readonly homeDir: string;
  readonly agentSocket: string | null;
  /** Resolves to null without an answer. The time it takes does not count towards the timeout of the server. */
  readonly askSecret: (question: SecretQuestion) => Promise<string | null>;
  /** Runs work that may wait for the user, such as an agent that asks before it signs. */
  readonly pauseTimeoutDuring: <T>(work: () => Promise<T>) => Promise<T>;
}

const DEFAULT_FILES = ['id_ed25519', 'id_ecdsa', 'id_rsa'];
const MAX_BYTES = 64 * 1024;
const AGENT_TIMEOUT_MS = 3_000;
const MAX_ATTEMPTS = 3;

/** Keys in OpenSSH's order: agent keys that have a file, then other agent keys, then key files. */
export async function findIdentities(settings: HostSettings, context: IdentityContext): Promise<Identities> {
  const problems: string[] = [];
  const named = settings.identityFiles;
  const paths = named ?? DEFAULT_FILES.map((name) => join(context.homeDir, '.ssh', name));
  const files: KeyFile[] = [];
  for (const path of paths) {
    const file = await readKeyFile(path, named !== null, problems);
    if (file !== null) files.push(file);
  }
  const socket = settings.identityAgent === undefined ? context.agentSocket : settings.identityAgent;
  const held = socket === null ? [] : await keysOfAgent(socket, problems, context);
  const hasFile = (key: ParsedKey) => files.some(({ publicKey }) => publicKey !== null && isSame(publicKey, key));
  const [withFile, others] = [held.filter(({ key }) => hasFile(key)), held.filter(({ key }) => !hasFile(key))];
  const inAgent = (file: KeyFile) => held.some(({ key }) => file.publicKey !== null && isSame(file.publicKey, key));
  return {
    offers: [
      ...withFile,
      ...(settings.identitiesOnly ? [] : others),
      ...files.filter((file) => file.text !== null && !inAgent(file)).map((file) => offerOf(file, problems, context)),
    ],
    problems,
  };
}

function isSame(one: ParsedKey, other: ParsedKey): boolean {
  return one.getPublicSSH().equals(other.getPublicSSH());
}

// ── an agent ─────────────────────────────────────────────────────────────────────────────────────────────────────

interface HeldKey extends Identity {
  readonly key: ParsedKey;
}

async function keysOfAgent(socket: string, problems: string[], context: IdentityContext): Promise<HeldKey[]> {
  const agent = new ssh2.OpenSSHAgent(socket);
  const { promise, resolve, reject } = Promise.withResolvers<ParsedKey[]>();
  using _late = context.clock.after(AGENT_TIMEOUT_MS, () => reject(new Error('agent timeout')));
  agent.getIdentities((error, keys) => (error ? reject(error) : resolve((keys ?? []) as ParsedKey[])));
  try {
    return (await promise).map((key) => {
      const label = `${foreignText(key.comment || key.type)} (agent)`;
      const sign = (data: Buffer, hash: Hash) => context.pauseTimeoutDuring(() => signedBy(agent, key, data, hash));
      return { key, label, publicKey: async () => key, sign };
    });
  } catch {
    problems.push(`The SSH agent ${socket} listed no keys.`);
    return [];
  }
}

function signedBy(agent: ssh2.OpenSSHAgent, key: ParsedKey, data: Buffer, hash: Hash): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    agent.sign(key, data, hash === undefined ? {} : { hash }, (error, signature) => {
      if (error || signature === undefined) reject(error ?? new Error('the agent returned no signature'));
      else resolve(signature);
    });
  });
}

// ── key files ────────────────────────────────────────────────────────────────────────────────────────────────────

interface KeyFile {
  readonly path: string;
  /** null: only the public key exists, which selects a key of the agent. */
  readonly text: string | null;
  /** null: unknown without the passphrase. */
  readonly publicKey: ParsedKey | null;
}

async function readKeyFile(path: string, isNamed: boolean, problems: string[]): Promise<KeyFile | null> {
  const beside = await publicPart(`${path}.pub`);
  let text: string | null = null;
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('not a key file');
    text = await file.readFile('utf8');
    if (/^(ssh|ecdsa|sk)-\S+ /.test(text)) return { path, text: null, publicKey: parsed(text) };
    if ((stats.mode & 0o077) !== 0) {
      problems.push(`Key file ${path} is ignored, because others can read it: chmod 600 ${path}.`);
      text = null;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (isNamed && (code !== 'ENOENT' || beside === null)) {
      problems.push(code === 'ENOENT' ? `Key file ${path} does not exist.` : `Key file ${path} cannot be read.`);
    }
  }
  if (text === null) return beside === null ? null : { path, text, publicKey: beside };
  const key = parsePrivateKey(text);
  if (!(key instanceof Error)) return { path, text, publicKey: key };
  if (isEncrypted(key)) return { path, text, publicKey: beside ?? publicPartOf(text) };
  problems.push(`${path} is not a supported private key.`);
  return null;
}

function isEncrypted(error: Error): boolean {
  return /no passphrase given/.test(error.message);
}

async function publicPart(path: string): Promise<ParsedKey | null> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    return stats.isFile() && stats.size <= MAX_BYTES ? parsed(await file.readFile('utf8')) : null;
  } catch {
    return null;
  }
}

function parsed(text: string | Buffer): ParsedKey | null {
  const key = ssh2.utils.parseKey(text);
  return key instanceof Error ? null : key;
}

/** The public key before the encrypted part of an OpenSSH key file. @source OpenSSH, PROTOCOL.key */
export function publicPartOf(text: string): ParsedKey | null {
  const [, base64] = /-{5}BEGIN OPENSSH PRIVATE KEY-{5}([\s\S]+?)-{5}END/.exec(text) ?? [];
  if (base64 === undefined) return null;
  const bytes = Buffer.from(base64, 'base64');
  let at = 'openssh-key-v1\0'.length;
  const field = (): Buffer | null => {
    if (at + 4 > bytes.length) return null;
    const length = bytes.readUInt32BE(at);
    at += 4 + length;
    return at > bytes.length ? null : bytes.subarray(at - length, at);
  };
  const [cipher, derivation, options] = [field(), field(), field()];
  at += 4;
  const key = field();
  return cipher && derivation && options && key ? parsed(key) : null;
}

function offerOf(file: KeyFile, problems: string[], context: IdentityContext): Identity {
  let unlocked: Promise<ParsedKey> | undefined;
  const unlock = () => {
    unlocked ??= unlockKey(file, problems, context);
    return unlocked;
  };
  return {
    label: file.path,
    publicKey: async () => file.publicKey ?? (await unlock()),
    async sign(data, hash) {
      const signature: Buffer | Error = (await unlock()).sign(data, hash);
      if (signature instanceof Error) throw signature;
      return signature;
    },
  };
}

async function unlockKey({ path, text }: KeyFile, problems: string[], context: IdentityContext): Promise<ParsedKey> {
  const whole = text ?? '';
  const open = parsePrivateKey(whole);
  if (!(open instanceof Error)) return open;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const passphrase = await context.askSecret({ text: `Passphrase for the key ${basename(path)}: `, echo: false });
    if (passphrase === null || passphrase === '') {
      problems.push(`Key file ${path} is encrypted and no passphrase was given.`);
      throw open;
    }
    const key = parsePrivateKey(whole, passphrase);
    if (!(key instanceof Error)) return key;
  }
  problems.push(`Wrong passphrase for ${path}, ${MAX_ATTEMPTS} attempts.`);
  throw open;
}
