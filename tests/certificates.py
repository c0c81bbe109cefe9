"""Certificates of a test script's own, made by openssl."""

import subprocess


class Authority:
    """A certificate for one name or address, and the authority that it comes from."""

    def __init__(self, here, name):
        folder = here.path / f'tls-{name}'
        folder.mkdir()
        self.ca, self.certificate, self.key = (str(folder / file) for file in ('ca.pem', 'own.pem', 'own.key'))
        kind = 'IP' if name[-1].isdigit() else 'DNS'
        (folder / 'names').write_text(f'subjectAltName={kind}:{name}\n')

        def openssl(*words):
            subprocess.run(['openssl', *words], cwd=folder, check=True, capture_output=True)

        curve = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes')
        openssl('req', '-x509', *curve, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=An authority', '-days',
                '2')
        openssl('req', *curve, '-keyout', 'own.key', '-out', 'own.csr', '-subj', f'/CN={name}')
        openssl('x509', '-req', '-in', 'own.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-out',
                'own.pem', '-days', '2', '-extfile', 'names')
