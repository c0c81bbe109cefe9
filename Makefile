# The two commands that a fresh machine needs are `make demo` and `make test`: each installs what is missing first.
# Everything that is made lies in build/.

BUILD  ?= build
PREFIX ?= /usr/local

C_FILES = $(shell find include lib cli bench examples tests -name '*.[ch]')

.PHONY: all demo test test-trixie bench install clean format lint

all: $(BUILD)/build.ninja
	@ninja --quiet -C $(BUILD)

# Criterion is only needed by `make test`, which has build folders of its own.
$(BUILD)/build.ninja:
	@command -v meson >/dev/null || { echo 'there is no Meson here; scripts/install-packages run brings all that is needed'; exit 1; }
	@mkdir -p $(BUILD)
	@meson setup -Dtests=disabled --prefix=$(PREFIX) $(BUILD) >$(BUILD)/setup.log 2>&1 || { cat $(BUILD)/setup.log; exit 1; }

# STORE=redis runs it over a private Redis server.
demo:
	@scripts/install-packages run $(filter redis,$(STORE))
	@$(MAKE) --no-print-directory all
	@scripts/demo

# QUICK=1 runs the plain build alone, ONLY=core the tests in tests/core alone.
test:
	@scripts/install-packages run test
	@scripts/test

# Parts of it with the libraries and servers of Debian 13, in a folder; needs root and debootstrap.
test-trixie:
	@scripts/test-trixie

# QUICK=1 leaves out the long ones: pacing and memory.
bench: all
	@meson test -C $(BUILD) --benchmark --verbose $(if $(QUICK),--no-suite long)

# DESTDIR and PREFIX as usual.
install: all
	@meson configure $(BUILD) --prefix=$(PREFIX)
	@meson install -C $(BUILD)

clean:
	@rm -rf $(BUILD)

format:
	@clang-format -i $(C_FILES)

lint: all
	@scripts/lint $(BUILD)
