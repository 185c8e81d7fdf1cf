import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';

/**
 * A certificate authority in memory, for whatever of the simulated cloud speaks TLS: server certificates for names and
 * addresses, client certificates for certificate requests. EC P-256 and SHA-256 throughout. Its keys are made when it
 * is made; nothing of it stands in the repository.
 */
export interface Authority {
  /** The authority's own certificate. */
  readonly caPem: string;
  /** Its private key (PKCS#8), for whoever keeps an authority across restarts. */
  readonly keyPem: string;
  /** A key and a certificate for a server with these names and addresses. */
  issueServer(options: ServerCertificateOptions): Promise<IssuedPair>;
  /** A client certificate for the key of a certificate request. Throws RangeError for one that is not sound. */
  issueClient(requestPem: string, options?: ClientCertificateOptions): Promise<string>;
  /** A key and a client certificate without a request. */
  issueClientPair(commonName: string, options?: ClientCertificateOptions): Promise<IssuedPair>;
  /** An authority below this one. Its `caPem` is its own certificate alone. */
  issueAuthority(commonName: string, options?: Validity): Promise<Authority>;
}

export interface Validity {
  /** An hour ago by default. */
  readonly notBefore?: Date;
  /** A year from now by default. */
  readonly notAfter?: Date;
}

interface ServerCertificateOptions extends Validity {
  /** Host names and IP addresses; the first is the common name too. */
  readonly names: readonly [string, ...string[]];
}

interface ClientCertificateOptions extends Validity {
  /** Instead of the one that the request asks for. */
  readonly commonName?: string;
  /** What the certificate may be used for; client by default, null for no such extension. */
  readonly purpose?: 'client' | 'server' | null;
  /** Whether its key may sign; true by default. */
  readonly signs?: boolean;
}

export interface IssuedPair {
  /** PKCS#8. */
  readonly keyPem: string;
  readonly certificatePem: string;
}

/** What a certificate request says, once its signature was found to be made with the key in it. */
export interface ReadRequest {
  readonly commonName: string | null;
  /** Its public key as PEM (SubjectPublicKeyInfo). */
  readonly publicKeyPem: string;
  /** Of an EC key, `prime256v1` for P-256; null for a key of another kind. */
  readonly curve: string | null;
}

/** EC P-256, as `ReadRequest` names it. */
export const CURVE = 'prime256v1';
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;
const signing = { name: 'ECDSA', hash: 'SHA-256' } as const;
const purposes = { client: '1.3.6.1.5.5.7.3.2', server: '1.3.6.1.5.5.7.3.1' } as const;

export interface AuthorityOptions extends Validity {
  readonly commonName?: string;
}

/** Makes a new authority with a key of its own. */
export async function createAuthority(options: AuthorityOptions = {}): Promise<Authority> {
  const { x509, crypto } = await load();
  const { commonName = 'Simulated cloud', ...validity } = options;
  const pair = newPair();
  const keys = await cryptoKeys(pair.privateKey);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(),
      name: [{ CN: [commonName] }],
      ...period(validity),
      signingAlgorithm: signing,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, crypto),
      ],
    },
    crypto,
  );
  return authorityOf(pem(certificate), pkcs8(pair.privateKey));
}

/** The authority of a certificate and its private key, as `caPem` and `keyPem` of another one gave them. */
export function restoreAuthority(kept: { readonly caPem: string; readonly keyPem: string }): Authority {
  return authorityOf(kept.caPem, kept.keyPem);
}

/** Reads a certificate request. Undefined when it is none, or when its signature does not fit its key. */
export async function readRequest(requestPem: string): Promise<ReadRequest | undefined> {
  const { x509, crypto } = await load();
  try {
    const request = new x509.Pkcs10CertificateRequest(requestPem);
    if (!(await request.verify(crypto))) return undefined;
    const key = createPublicKey({ key: Buffer.from(request.publicKey.rawData), format: 'der', type: 'spki' });
    return {
      commonName: request.subjectName.getField('CN')[0] ?? null,
      publicKeyPem: key.export({ type: 'spki', format: 'pem' }).toString(),
      curve: key.asymmetricKeyDetails?.namedCurve ?? null,
    };
  } catch {
    return undefined;
  }
}

function authorityOf(caPem: string, keyPem: string): Authority {
  async function issue(
    commonName: string,
    publicKey: webcrypto.CryptoKey,
    validity: Validity,
    extensions: (x509: X509) => InstanceType<X509['Extension']>[],
  ): Promise<string> {
    const { x509, crypto } = await load();
    const authority = new x509.X509Certificate(caPem);
    const keys = await cryptoKeys(createPrivateKey(keyPem));
    const certificate = await x509.X509CertificateGenerator.create(
      {
        serialNumber: serialNumber(),
        subject: [{ CN: [commonName] }],
        issuer: authority.subjectName,
        ...period(validity),
        signingAlgorithm: signing,
        publicKey,
        signingKey: keys.privateKey,
        extensions: [
          ...extensions(x509),
          await x509.SubjectKeyIdentifierExtension.create(publicKey, false, crypto),
          await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey, false, crypto),
        ],
      },
      crypto,
    );
    return pem(certificate);
  }

  const leaf = (x509: X509, purpose: 'client' | 'server' | null, signs = true) => [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(signs ? x509.KeyUsageFlags.digitalSignature : x509.KeyUsageFlags.keyAgreement, true),
    ...(purpose === null ? [] : [new x509.ExtendedKeyUsageExtension([purposes[purpose]])]),
  ];

  const client = (
    commonName: string,
    key: webcrypto.CryptoKey,
    { purpose = 'client', signs, ...validity }: ClientCertificateOptions,
  ) => issue(commonName, key, validity, (x509) => leaf(x509, purpose, signs));

  return {
    caPem,
    keyPem,
    async issueServer({ names, ...validity }) {
      const pair = newPair();
      const { publicKey } = await cryptoKeys(pair.privateKey);
      const certificatePem = await issue(names[0], publicKey, validity, (x509) => [
        ...leaf(x509, 'server'),
        new x509.SubjectAlternativeNameExtension(
          names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
        ),
      ]);
      return { keyPem: pkcs8(pair.privateKey), certificatePem };
    },
    async issueClient(requestPem, options = {}) {
      const request = await readRequest(requestPem);
      if (request?.curve !== CURVE) throw new RangeError('no request for an EC P-256 key that signed it');
      const spki = createPublicKey(request.publicKeyPem).export({ type: 'spki', format: 'der' });
      const key = await webcrypto.subtle.importKey('spki', spki, { name: 'ECDSA', namedCurve: 'P-256' }, true, [
        'verify',
      ]);
      return client(options.commonName ?? request.commonName ?? '', key, options);
    },
    async issueClientPair(commonName, options = {}) {
      const pair = newPair();
      const { publicKey } = await cryptoKeys(pair.privateKey);
      return {
        keyPem: pkcs8(pair.privateKey),
        certificatePem: await client(options.commonName ?? commonName, publicKey, options),
      };
    },
    async issueAuthority(commonName, validity = {}) {
      const pair = newPair();
      const { publicKey } = await cryptoKeys(pair.privateKey);
      const certificatePem = await issue(commonName, publicKey, validity, (x509) => [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      ]);
      return authorityOf(certificatePem, pkcs8(pair.privateKey));
    },
  };
}

type X509 = typeof import('@peculiar/x509');

/** Loaded when the first certificate is wanted: the library is large, and most simulators need none. */
async function load(): Promise<{ readonly x509: X509; readonly crypto: webcrypto.Crypto }> {
  await import('reflect-metadata');
  return { x509: await import('@peculiar/x509'), crypto: webcrypto };
}

function newPair() {
  return generateKeyPairSync('ec', { namedCurve: CURVE });
}

async function cryptoKeys(privateKey: KeyObject) {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' } as const;
  const { subtle } = webcrypto;
  const pkcs8Bytes = privateKey.export({ type: 'pkcs8', format: 'der' });
  const spkiBytes = createPublicKey(privateKey).export({ type: 'spki', format: 'der' });
  return {
    privateKey: await subtle.importKey('pkcs8', pkcs8Bytes, algorithm, true, ['sign']),
    publicKey: await subtle.importKey('spki', spkiBytes, algorithm, true, ['verify']),
  };
}

function pkcs8(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** PEM as OpenSSL writes it, with a line end at the end. */
function pem(certificate: { readonly rawData: ArrayBuffer }): string {
  return new X509Certificate(Buffer.from(certificate.rawData)).toString();
}

/** Positive and of 16 bytes whatever chance gives. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString('hex');
}

function period({ notBefore, notAfter }: Validity): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: notBefore ?? new Date(now - HOUR_MS), notAfter: notAfter ?? new Date(now + YEAR_MS) };
}
