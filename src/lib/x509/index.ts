/** X.509 helpers that Node's X509Certificate lacks. */
export { type CaCertificates, isVersion1, readCaCertificates } from './ca-file.ts';
export { CERTIFICATE, certificatesOf, commonNameOf, isIssuedBy, isSelfSigned, isSignedBy } from './certificate.ts';
export { type CertificateView, nameLine, viewCertificate } from './view.ts';
