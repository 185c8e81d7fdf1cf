import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../dialer.ts';

/** Where to go by SSH, as a person wrote it: `user@host:port`. What is left out, the configuration of SSH says. */
export interface SshTarget {
  /** A name, an address literal (IPv6 without brackets), or an alias of the SSH configuration. */
  readonly host: string;
  readonly user: string | null;
  readonly port: number | null;
}

/** Something that only a person knows: the password of an account, the passphrase of a key file. */
export interface SecretQuestion {
  /** In plain words; what a server asks for stands in it with its control characters taken out. */
  readonly text: string;
  /** Whether what is typed may be shown: a server may ask for something that is no secret. */
  readonly shown: boolean;
}

/** A host that is met for the first time. */
export interface HostKeyQuestion {
  /** As it will stand in known_hosts: `192.0.2.7`, `[192.0.2.7]:2222`. */
  readonly host: string;
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`. */
  readonly keyType: string;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

/** Somebody who can be asked. */
export interface SshPerson {
  /** Null: no answer was given. */
  askSecret(question: SecretQuestion, signal: AbortSignal): Promise<string | null>;
  /** Whether the fingerprint is that of the machine that is meant. */
  trustHostKey(question: HostKeyQuestion, signal: AbortSignal): Promise<boolean>;
}

/** What the machine and the person at it bring along. Nothing of it is read from the environment here. */
export interface SshOptions {
  /** `.ssh/config`, `.ssh/known_hosts` and `.ssh/id_*` are looked for in it, and `~` stands for it. */
  readonly homeDir: string;
  /** Who logs in where neither target nor configuration name a user. */
  readonly localUser: string;
  /** Path of the socket of an SSH agent; null: none. */
  readonly agentSocket: string | null;
  /** Null: nobody can be asked. Then no unknown host is trusted, and no password and no passphrase are known. */
  readonly person: SshPerson | null;
  /** Told in one line: what a server says before it lets in, and what of the files is not used. */
  readonly tell?: ((text: string) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Ends the opening; a connection that stands is ended by disposing it. */
  readonly signal?: AbortSignal | undefined;
  /** How long each hop may take, without the time in which a person is asked; in milliseconds. */
  readonly timeoutMs?: number | undefined;
  /** Host keys of the whole machine; by default `/etc/ssh/ssh_known_hosts`. */
  readonly systemKnownHostsFile?: string | undefined;
}

/** A program that runs on the far side. Both outputs must be read; disposing it asks the program to end. */
export interface FarProcess extends AsyncDisposable {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has ended and all of its output was read. Rejects with SSH_LOST. */
  readonly ended: Promise<FarExit>;
}

export interface FarExit {
  /** Exit code; null when a signal ended it or the far side told nothing. */
  readonly code: number | null;
  /** `SIGTERM`; null when none ended it. */
  readonly signal: string | null;
}

/** One connection, over which everything goes in channels of its own. Disposing it ends all of them. */
export interface Ssh extends AsyncDisposable {
  /** Where it ends, with everything that the configuration said: `technician@192.0.2.2:22`. */
  readonly where: string;
  /** The machine that was dialled from here: the one that is meant, or the first that ProxyJump names. */
  readonly firstHop: Endpoint;
  /**
   * Dials from the far side; `way` is `via technician@192.0.2.2:22`. Beside a DialError, which is about the address,
   * it throws SSH_CHANNEL_REFUSED when the far side lets nothing through, and SSH_LOST.
   */
  readonly dialer: Dialer;
  /**
   * Runs a program there. The words reach it as they are, whatever they hold: they are quoted for the shell there.
   * Aborting the signal asks the program to end. Throws SSH_CHANNEL_REFUSED, SSH_LOST, INTERRUPTED.
   */
  exec(argv: readonly string[], options?: { readonly signal?: AbortSignal | undefined }): Promise<FarProcess>;
  /** Aborted with SSH_LOST as soon as the line is noticed to be gone; never when it is ended in order. */
  readonly lost: AbortSignal;
  /**
   * For how long nothing has come over the line, in milliseconds. The far side is asked for a sign of life twice a
   * second, so much more than that is a line in doubt.
   */
  quietMs(): number;
}
