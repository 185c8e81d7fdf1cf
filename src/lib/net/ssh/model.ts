import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../dialer.ts';

/** An SSH target as given: `user@host:port`. Omitted parts come from the SSH configuration. */
export interface SshTarget {
  /** A name, an address literal (IPv6 without brackets), or an alias of the SSH configuration. */
  readonly host: string;
  readonly user: string | null;
  readonly port: number | null;
}

/** A question for the password of an account, the passphrase of a key file, or a prompt of the server. */
export interface SecretQuestion {
  /** The prompt; text of the server in it has its control characters replaced. */
  readonly text: string;
  /** Whether typed characters are echoed, as the server requests it. */
  readonly echo: boolean;
}

/** The key of a host that known_hosts does not list. */
export interface HostKeyQuestion {
  /** As written to known_hosts: `192.0.2.7`, `[192.0.2.7]:2222`. */
  readonly host: string;
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`. */
  readonly keyType: string;
  /** `SHA256:…`, as `ssh-keygen -l` prints it. */
  readonly fingerprint: string;
}

/** The user who answers questions. */
export interface SshPerson {
  /** Resolves to null without an answer. */
  askSecret(question: SecretQuestion, signal: AbortSignal): Promise<string | null>;
  /** Whether the user confirms the fingerprint. */
  trustHostKey(question: HostKeyQuestion, signal: AbortSignal): Promise<boolean>;
}

/** Environment of the connection. This module reads no environment variables itself. */
export interface SshOptions {
  /** Holds `.ssh/config`, `.ssh/known_hosts` and `.ssh/id_*`; `~` expands to it. */
  readonly homeDir: string;
  /** User name when neither target nor configuration has one. */
  readonly localUser: string;
  /** For the variables of the SSH configuration; only HOME by default. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Path of the socket of an SSH agent; null: none. */
  readonly agentSocket: string | null;
  /** Null: non-interactive. Then unknown host keys are rejected, and no password or passphrase is available. */
  readonly person: SshPerson | null;
  /** Receives one line each: banner lines of the server, and ignored settings of the configuration files. */
  readonly notify?: ((text: string) => void) | undefined;
  readonly clock?: Clock | undefined;
  /** Aborts the connection attempt; an open connection is closed by disposing it. */
  readonly signal?: AbortSignal | undefined;
  /** Timeout per hop in milliseconds, not counting the time in which the user is asked. */
  readonly timeoutMs?: number | undefined;
  /** System-wide known hosts file; by default `/etc/ssh/ssh_known_hosts`. */
  readonly systemKnownHostsFile?: string | undefined;
}

/** A program on the remote host. Both outputs must be read; disposing it terminates the program. */
export interface RemoteProcess extends AsyncDisposable {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the program has exited and all of its output was read. Rejects with SSH_LOST. */
  readonly ended: Promise<RemoteExit>;
}

export interface RemoteExit {
  /** Exit code; null when a signal ended it or the server sent none. */
  readonly code: number | null;
  /** `SIGTERM`; null when it was not ended by a signal. */
  readonly signal: string | null;
}

/** One SSH connection with its channels. Disposing it closes all of them. */
export interface Ssh extends AsyncDisposable {
  /** The target with the applied configuration: `technician@192.0.2.2:22`. */
  readonly where: string;
  /** The host dialled from this machine: the target, or the first jump host. */
  readonly firstHop: Endpoint;
  /**
   * Dials from the remote host; `way` is `via technician@192.0.2.2:22`. Beside a DialError for the dialled address it
   * throws SSH_CHANNEL_REFUSED when the server refuses TCP forwarding, and SSH_LOST.
   */
  readonly dialer: Dialer;
  /**
   * Dials the Unix socket `path` of the remote host, with the permissions of the login there; the endpoint is ignored.
   * OpenSSH gives no reason for a failure: the DialError is 'other' (`direct-streamlocal@openssh.com`, PROTOCOL 2.4).
   */
  socketDialer(path: string): Dialer;
  /**
   * Runs a program on the remote host. Arguments are quoted for its shell and arrive unchanged. Aborting the signal
   * terminates the program. Throws SSH_CHANNEL_REFUSED, SSH_LOST, INTERRUPTED.
   */
  exec(argv: readonly string[], options?: { readonly signal?: AbortSignal | undefined }): Promise<RemoteProcess>;
  /** Aborted with SSH_LOST when the connection is lost; never by an orderly close. */
  readonly lost: AbortSignal;
  /**
   * Time since the last data was received, in milliseconds. Keepalive requests are sent twice a second, so a longer
   * silence means that the connection may be lost.
   */
  quietMs(): number;
}
