# make install   puts what `make release` built below $(DESTDIR)$(PREFIX). On a running system it
#                also makes the users, the spool and the catalog. It writes no configuration and no
#                secret. debian/rules makes a package of each half, install-service and
#                install-sandbox.
# make uninstall takes the same files away and leaves configuration, secrets and state.
DESTDIR ?=
PREFIX ?= /usr
SBINDIR ?= $(PREFIX)/sbin
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib/expunged
UNITDIR ?= $(PREFIX)/lib/systemd/system
MANDIR ?= $(PREFIX)/share/man
CATALOGDIR ?= $(PREFIX)/lib/systemd/catalog
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
DOCDIR ?= $(PREFIX)/share/doc/expunged
SANDBOX_DOCDIR ?= $(PREFIX)/share/doc/expunged-sandbox
SYSCONFDIR ?= /etc
# Another folder lets the release be built beside tests that use .build.
SCRATCH ?= .build
RELEASE_DIR ?= $(SCRATCH)/release
# A package strips its programs itself.
INSTALL_PROGRAM ?= install -s -m 0755
RELEASE_FLAGS = -c release --static-swift-stdlib --scratch-path $(SCRATCH)
UNITS = expunged.service expunged-control.socket expunged-submit.socket expunged-viewer.socket \
    expunged-replay.service expunged-replayed.target expunged-metrics.service \
    expunged-metrics.timer expunged-backup.service expunged-backup.timer
SANDBOX_UNIT = expunged-sandbox.service
SANDBOX_EXAMPLES = Config/sandbox/expunged.toml Config/sandbox/demo.sql
DOC_FOLDERS = guides integrations providers stores
# Where texts look for docs/guides/install.md, from $(DOCDIR).
PAGES_DIR = $(DOCDIR)/docs
DOCUMENTS = CHANGELOG.md SECURITY.md Config/grafana-dashboard.json Config/prometheus-rules.yml \
    Config/container/Containerfile Config/container/expunged.container \
    systemd/expunged-approval.conf docs/openapi.json docs/verify-ledger.py
SANDBOX_PAGE = docs/man/expunged-sandbox.1
SERVICE_PAGES = $(filter-out $(SANDBOX_PAGE),$(wildcard docs/man/*.[1-8]))
SHELLS_bash = $(PREFIX)/share/bash-completion/completions/expungectl
SHELLS_zsh = $(PREFIX)/share/zsh/vendor-completions/_expungectl
SHELLS_fish = $(PREFIX)/share/fish/vendor_completions.d/expungectl.fish

# Where a unit names the places of the programs, of the script and of the configuration.
PLACED = sed -e 's|/usr/sbin/expunged|$(SBINDIR)/expunged|g' \
    -e 's|/usr/bin/expunge|$(BINDIR)/expunge|g' -e 's|/usr/lib/expunged/|$(LIBDIR)/|g' \
    -e 's|/etc/expunged|$(SYSCONFDIR)/expunged|g'
NOT_BUILT = echo "nothing built yet: run 'make release' first" >&2; exit 1

# Only the system that runs is touched, never the machine on which a package is built.
ON_RUNNING_SYSTEM = test -z "$(DESTDIR)" && test -d /run/systemd/system

.PHONY: release install install-service install-sandbox install-system uninstall

release:
	swift build $(RELEASE_FLAGS) --product expunged
	swift build $(RELEASE_FLAGS) --product expungectl
	swift build $(RELEASE_FLAGS) --product expunged-sandbox

# Not after `release`, so that `sudo make install` does not build as root.
install: install-service install-sandbox install-system

install-service:
	@test -x $(RELEASE_DIR)/expunged || { $(NOT_BUILT); }
	install -d $(addprefix $(DESTDIR),$(SBINDIR) $(BINDIR) $(LIBDIR) $(UNITDIR) $(CATALOGDIR) \
	    $(SYSUSERSDIR) $(TMPFILESDIR) $(SYSCONFDIR)/expunged $(DOCDIR)/examples \
	    $(addprefix $(PAGES_DIR)/,$(DOC_FOLDERS)))
	install -d -m 0700 $(DESTDIR)$(SYSCONFDIR)/expunged/credentials
	install -m 0755 systemd/expunged-backup $(DESTDIR)$(LIBDIR)/backup
	$(INSTALL_PROGRAM) $(RELEASE_DIR)/expunged $(DESTDIR)$(SBINDIR)/expunged
	$(INSTALL_PROGRAM) $(RELEASE_DIR)/expungectl $(DESTDIR)$(BINDIR)/expungectl
	for unit in $(UNITS); do \
	    $(PLACED) systemd/$$unit > $(DESTDIR)$(UNITDIR)/$$unit && \
	    chmod 0644 $(DESTDIR)$(UNITDIR)/$$unit || exit 1; \
	done
	install -m 0644 systemd/expunged.sysusers $(DESTDIR)$(SYSUSERSDIR)/expunged.conf
	install -m 0644 systemd/expunged.tmpfiles $(DESTDIR)$(TMPFILESDIR)/expunged.conf
	install -m 0644 systemd/expunged.catalog $(DESTDIR)$(CATALOGDIR)/expunged.catalog
	install -m 0644 Config/expunged.toml Config/examples/*.toml Config/examples/*.sql \
	    Sources/Stores/HTTP/presets.toml $(DESTDIR)$(DOCDIR)/examples/
	install -m 0644 $(DOCUMENTS) $(DESTDIR)$(DOCDIR)/
	install -m 0644 docs/GLOSSARY.md $(DESTDIR)$(PAGES_DIR)/
	for folder in $(DOC_FOLDERS); do \
	    install -m 0644 docs/$$folder/*.md $(DESTDIR)$(PAGES_DIR)/$$folder/ || exit 1; \
	done
	for page in $(SERVICE_PAGES); do \
	    install -D -m 0644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; \
	done
	install -D -m 0644 completions/expungectl.bash $(DESTDIR)$(SHELLS_bash)
	install -D -m 0644 completions/_expungectl $(DESTDIR)$(SHELLS_zsh)
	install -D -m 0644 completions/expungectl.fish $(DESTDIR)$(SHELLS_fish)

install-sandbox:
	@test -x $(RELEASE_DIR)/expunged-sandbox || { $(NOT_BUILT); }
	install -d $(addprefix $(DESTDIR),$(BINDIR) $(UNITDIR) $(SANDBOX_DOCDIR)/examples)
	$(INSTALL_PROGRAM) $(RELEASE_DIR)/expunged-sandbox $(DESTDIR)$(BINDIR)/expunged-sandbox
	$(PLACED) systemd/$(SANDBOX_UNIT) > $(DESTDIR)$(UNITDIR)/$(SANDBOX_UNIT)
	chmod 0644 $(DESTDIR)$(UNITDIR)/$(SANDBOX_UNIT)
	install -m 0644 $(SANDBOX_EXAMPLES) $(DESTDIR)$(SANDBOX_DOCDIR)/examples/
	install -D -m 0644 $(SANDBOX_PAGE) $(DESTDIR)$(MANDIR)/man1/$(notdir $(SANDBOX_PAGE))

# The spool is made here, before anybody can be in expunged-submit and make another one in its
# place. The start of the service makes it, too, and reports when it cannot.
install-system:
	@if $(ON_RUNNING_SYSTEM); then set -e; \
	    systemd-sysusers $(SYSUSERSDIR)/expunged.conf; \
	    systemd-tmpfiles --create $(TMPFILESDIR)/expunged.conf; \
	    setpriv --reuid=expunged --regid=expunged --init-groups env STATE_DIRECTORY=/var/lib/expunged \
	        $(SBINDIR)/expunged --init-spool || true; \
	    journalctl --update-catalog; \
	    systemctl daemon-reload; \
	    echo "installed; next: expunged setup, and systemctl enable --now expunged.service"; \
	else \
	    echo "installed files only; the system still needs systemd-sysusers and systemd-tmpfiles"; \
	fi

uninstall:
	@if $(ON_RUNNING_SYSTEM); then systemctl disable --now $(UNITS) $(SANDBOX_UNIT) || true; \
	    rm -f /var/lib/prometheus/node-exporter/expunged.prom; fi
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS) $(SANDBOX_UNIT))
	rm -f $(addprefix $(DESTDIR),$(SBINDIR)/expunged $(BINDIR)/expungectl $(BINDIR)/expunged-sandbox)
	rm -f $(DESTDIR)$(SYSUSERSDIR)/expunged.conf $(DESTDIR)$(TMPFILESDIR)/expunged.conf
	rm -f $(DESTDIR)$(CATALOGDIR)/expunged.catalog
	rm -f $(foreach shell,bash zsh fish,$(DESTDIR)$(SHELLS_$(shell)))
	rm -f $(foreach page,$(wildcard docs/man/*.[1-8]),\
	    $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
	rm -rf $(addprefix $(DESTDIR),$(LIBDIR) $(DOCDIR) $(SANDBOX_DOCDIR))
	@if $(ON_RUNNING_SYSTEM); then journalctl --update-catalog; systemctl daemon-reload; fi
	@echo "kept: $(DESTDIR)$(SYSCONFDIR)/expunged (configuration and keys)," \
	    "$(DESTDIR)/var/lib/expunged (state, keys and spool)," \
	    "$(DESTDIR)/var/lib/expunged-backups, $(DESTDIR)/var/log/expunged (checkpoints), and the" \
	    "user and groups. The state cannot be read without its keys: remove all or nothing."
