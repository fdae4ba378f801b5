/// Keys and certificates made for these tests only; they protect nothing.
enum Fixtures {
    /// 2048 bits; its public half is ``modulus`` with the exponent 65537 (`AQAB`).
    static let rsaKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCuXZTJko23P1T0
        gj//2KnzwsEhA0sIM1ZA9GLo1CuHYU5JHc2ahyFQkhYXdhdF8kGIeC4tv7dBCE0v
        kKvXibJmFAh/c3G9PEfYdSu1lj8G5adwuryoyc2lCxBqIwRktW2V0d/eA1QD46cA
        GvuFRny1wohnp0thisoOlyjkt+knBbOY8Wi8Se3Mcce36cVp9RBIRc5Qd2iiq1sS
        4G9In1eTY5rMtCFjISudC6FoSp6mcofw4JG0LjajUUv6f+RmzdOjnT4rVO2BzzrD
        oF4MP8aageN2r833Y84B68nU0D89MNfQNTdlI0pCDBut+GhAYM778YYZV5pKzq87
        ON8lTbkjAgMBAAECggEAKm0912BQGE8SMl6BCRVkoRn52TkOaEPpkGuGp6V8o/fS
        zyqvzRJlUlABjRrgZdYhCP5JKjuUcP/+m/zFO3BXVsw4Fx71hXil+K7mAEy7MEfw
        GpdtcVqNLcQH7fNwTbrxm7tSEBjaOAoMKBPosJCqpqVbgHEt/+F/8dXpDuILGsG6
        qiMqCaDsQmRp37oxS3iLzx8ShpYAHEIeNJwwvtPsJ0ndSs150xA1UhGYBmLHXwkO
        ocO3nvoCImetFiTyaKfyJLiWjObWWRR3GWq9wJDngVgRzszFtk2z0mRnmfbvnr1e
        l2vlxFOJYx0cgHMOfpSO2qu2dqHLmjjiZuJEPzxHGQKBgQDnLdoCmZ2ibmZTzieD
        gTjloMp8F+BgWBOiU1RDhzg6zI977g3qcPdBPxtGv/4SAg55xpIAa+jbbi3+juu/
        6YvH+epka2rRv7lbxcOkcvFuIY11bh4dV2H1wp43P2fj81OAtIWJPe6eeZDQVpQl
        ZwRoAPAzPUnEebHLvfGbEMxOGwKBgQDBFimDQpituSN5DEwYEAVb30MbWuVxhONP
        nfcEvJmcC/7ex99xp1Q4A59ML3M39DX8ksM5MVHy2A/MHmZrudCW4r/sBNe/PfuS
        f20NieJLj7Ogb6P1dkTd55kfDi/Yph4D5bKpyn2p5wYVpA4YCivbY9vUAYLa0Tm2
        BWMFST3RmQKBgACUGMuQ3tgdNpxXE7o8hIvujxMobCNRlRr+4mMY34cmI+XHfrlr
        dvLu2X6f1F7vKmIboRnnKzoBWJQef3CHgRYLBg8iRa4osKoOIKM0tm30H4p/sAua
        wGABEKxKuFPVtAvKZ9skEIjM/RPIY66ER3qLJg66xIh9VXiRDR26OQipAoGAakOs
        LRUludY+c4wVBNksWdeRsyhfRg6Am3ywSecSExN2/Vy62G3ip8E2llM28gBxBcQv
        tPYzx5apewjwDTGCXsgEH/y6UAHoxkNi3SSZakR38z/92EVyuT2Qw8qnAnDJ7BMq
        NM/AQRVn/9j9+LUAVgmrHg6G2a50OHzWdj5My2ECgYEA1PXjEPa9ZbnnLvZyqPm4
        XwDI0fZ9McquPYeHeKQ5gdpw/IAL7blTitAVLOmWlCyDL+bUjJqLixnfAIHlAUlS
        WUmKtVEwceEiOKbecLNswhvC4H0NSKU9Z2L0jR64DTGYNTccTGZ3xU6YGwFk9kSk
        nXeHrHZQmMsvqWC25C7MwIw=
        -----END PRIVATE KEY-----
        """

    static let modulus =
        "rl2UyZKNtz9U9II__9ip88LBIQNLCDNWQPRi6NQrh2FOSR3NmochUJIWF3YXRfJBiHguLb-3QQhNL5Cr"
        + "14myZhQIf3NxvTxH2HUrtZY_BuWncLq8qMnNpQsQaiMEZLVtldHf3gNUA-OnABr7hUZ8tcKIZ6dLYYrK"
        + "Dpco5LfpJwWzmPFovEntzHHHt-nFafUQSEXOUHdooqtbEuBvSJ9Xk2OazLQhYyErnQuhaEqepnKH8OCR"
        + "tC42o1FL-n_kZs3To50-K1Ttgc86w6BeDD_GmoHjdq_N92POAevJ1NA_PTDX0DU3ZSNKQgwbrfhoQGDO"
        + "-_GGGVeaSs6vOzjfJU25Iw"

    /// P-256; the key of every certificate below.
    static let serverKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBpW4TCl+7gx5j9CX
        u0OhTTywRRhmZGuMQZA/+XidqPihRANCAAQx+yTCYIdI+ODGuqOTBS9Gr2j99oQ0
        PL90816QFHfoaOF7D0hnE59F0O4unVFFTTtF1BuVQHvvyJIcs0wnxO6C
        -----END PRIVATE KEY-----
        """

    /// Self-signed for `localhost` and `127.0.0.1`.
    static let goodCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBkDCCATegAwIBAgIUeeti10kgKtc97blMy4n3MgadrjgwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEwMzMyMjdaGA8yMTI2MTAyODAzMzIy
        N1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDH7
        JMJgh0j44Ma6o5MFL0avaP32hDQ8v3TzXpAUd+ho4XsPSGcTn0XQ7i6dUUVNO0XU
        G5VAe+/IkhyzTCfE7oKjbzBtMB0GA1UdDgQWBBRXcr79GpqYQR/cgqpc4ccqpUtz
        mTAfBgNVHSMEGDAWgBRXcr79GpqYQR/cgqpc4ccqpUtzmTAPBgNVHRMBAf8EBTAD
        AQH/MBoGA1UdEQQTMBGHBH8AAAGCCWxvY2FsaG9zdDAKBggqhkjOPQQDAgNHADBE
        AiA2yky2lFXGeG8pA+2Ikl+KILELyohtv0tww7mDDakNzAIgNkUm4QOfuVYi2P6x
        wgGGdl+f0W5kF3girRak7jwsi/A=
        -----END CERTIFICATE-----
        """

    /// Self-signed for `other.example`.
    static let otherHostCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBjzCCATWgAwIBAgIUammjjwmdq6ELHnuaXAtKT1gQW10wCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjEwMzMyMjdaGA8yMTI2MTAyODAzMzIy
        N1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDH7
        JMJgh0j44Ma6o5MFL0avaP32hDQ8v3TzXpAUd+ho4XsPSGcTn0XQ7i6dUUVNO0XU
        G5VAe+/IkhyzTCfE7oKjbTBrMB0GA1UdDgQWBBRXcr79GpqYQR/cgqpc4ccqpUtz
        mTAfBgNVHSMEGDAWgBRXcr79GpqYQR/cgqpc4ccqpUtzmTAPBgNVHRMBAf8EBTAD
        AQH/MBgGA1UdEQQRMA+CDW90aGVyLmV4YW1wbGUwCgYIKoZIzj0EAwIDSAAwRQIg
        Rn3Pf3KlkSMGwbmgPntCm+tZDAToQeegWzGmweyMmCcCIQCGQP0s2W/ik1xweeE7
        lQLT8NoWlKYfp9Z8z21ITCpKng==
        -----END CERTIFICATE-----
        """

    /// Like the good one, but its last day is over.
    static let expiredCertificate = """
        -----BEGIN CERTIFICATE-----
        MIIBXTCCAQOgAwIBAgIUbT3/TmW0g6wE2ptSK7p08wdUWsQwCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAeFw0yNjExMjEwMzMyMjdaFw0yNjExMjAwMzMyMjda
        MA8xDTALBgNVBAMMBHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQx+yTC
        YIdI+ODGuqOTBS9Gr2j99oQ0PL90816QFHfoaOF7D0hnE59F0O4unVFFTTtF1BuV
        QHvvyJIcs0wnxO6Coz0wOzAaBgNVHREEEzARhwR/AAABgglsb2NhbGhvc3QwHQYD
        VR0OBBYEFFdyvv0amphBH9yCqlzhxyqlS3OZMAoGCCqGSM49BAMCA0gAMEUCIQC2
        V613L1+dclFh4UmxbaMqrZBljBXRZ6VLi1gVQENezAIgasQHTa3zKYTSMshz6igw
        eTil6pDuv54HYDtr/TDvoeo=
        -----END CERTIFICATE-----
        """
}
