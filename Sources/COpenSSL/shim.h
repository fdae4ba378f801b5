#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/bn.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <openssl/store.h>
#include <openssl/ui.h>
#include <openssl/core_names.h>
#include <openssl/params.h>
#include <openssl/provider.h>

// Swift does not import a macro that is made of macros.
static const int evp_pkey_public_key = EVP_PKEY_PUBLIC_KEY;

// An OSSL_PARAM keeps the address of its key: that of a Swift string is good for one call only.
static const char *const ossl_rsa_modulus = OSSL_PKEY_PARAM_RSA_N;
static const char *const ossl_rsa_exponent = OSSL_PKEY_PARAM_RSA_E;
static const char *const ossl_group_name = OSSL_PKEY_PARAM_GROUP_NAME;
static const char *const ossl_public_key = OSSL_PKEY_PARAM_PUB_KEY;
