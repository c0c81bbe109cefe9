# The two commands that a fresh machine needs are `make demo` and `make test`: each installs what is missing first.
# Everything that is made lies in build/.

BUILD  ?= build
PREFIX ?= /usr/local

C_FILES = $(shell find include lib kit cli workers bench examples tests -name '*.[ch]')

.PHONY: all demo test test-trixie bench bench-readme figures install clean format lint

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

# takt and what people use today, side by side (bench/SIDE.md): 14 minutes, QUICK=1 under two,
# WORKLOADS="A B" these alone.  Installs what is compared with, by bench/side/install.
bench: $(BUILD)/release/build.ninja
	@ninja --quiet -C $(BUILD)/release
	@bench/side/install $(BUILD)/side
	@bench/side/compare.py $(BUILD)/release $(BUILD)/side bench/results $(WORKLOADS)

# Puts the results of the last `make bench` into the README.
bench-readme:
	@bench/side/report.py bench/results README.md

# Every figure that is aimed at, of takt alone or beside a bare script; QUICK=1 leaves out the long ones: pacing, memory.
figures: $(BUILD)/release/build.ninja
	@ninja --quiet -C $(BUILD)/release
	@meson test -C $(BUILD)/release --benchmark --verbose $(if $(QUICK),--no-suite long)

$(BUILD)/release/build.ninja:
	@scripts/install-packages run redis
	@mkdir -p $(BUILD)/release
	@meson setup -Dtests=disabled --buildtype=release $(BUILD)/release >$(BUILD)/release/setup.log 2>&1 || { cat $(BUILD)/release/setup.log; exit 1; }

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
