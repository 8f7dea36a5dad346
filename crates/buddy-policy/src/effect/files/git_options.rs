//! Long options of git's subcommands, without `no-`. An option that is not here is one that this table does not know.

use crate::shell::ShellWord;

/// The names, all subcommands together: git itself refuses those that a subcommand does not have.
const OPTIONS: &str = "\
    3way abbrev abbrev-commit abbrev-ref abort absolute-git-dir access-hook active-branches add add-file \
    add-header add-virtual-file advance advertise-refs after after-context again aggressive ahead-behind aliases \
    all all-match all-progress all-progress-implied allow-binary-replacement allow-empty allow-empty-message \
    allow-onelevel allow-overlap allow-override allow-unknown-type allow-unrelated-histories \
    allow-unsafe-features also-filter-submodules alt-odb alternate-refs always amend ancestry-path anchored and \
    annotate annotate-stdin anonymize anonymize-map append apply assume-unchanged atomic attach author \
    author-date-order auto auto-gc auto-maintenance auto-merge autosquash autostash bare base base-path \
    base-path-relaxed basic-regexp batch batch-all-objects batch-check batch-command batch-size before \
    before-context big-file-threshold binary bisect bisect-all bisect-vars bitmap blob bool bool-or-int boundary \
    branch branches break break-rewrites broken browse browser buffer build-fake-ancestor build-options \
    bundle-uri cache cached cacheinfo candidates cat-blob-fd cc changed-paths check \
    check-self-contained-and-connected checkout cherry cherry-mark cherry-pick children chmod cleanup \
    clear-decorations clear-resolve-undo color color-by-age color-lines color-moved color-moved-ws color-words \
    column combined combined-all-paths command comment-lines commit commit-filter commit-header commit-id \
    committer committer-date-is-author-date compact-summary compose compression cone config config-env \
    config-file config-for-completion config-sections-for-completion confirm conflict connectivity-only \
    contained contains contents context continue convert-graft-file copy count cover-from-description \
    cover-letter create create-reflog creation-factor cruft cruft-expiration cumulative current daemon dangling \
    data date date-format date-order debug debug-unpack decorate decorate-refs decorate-refs-exclude deduplicate \
    deepen deepen-relative default default-prefix delete deleted delta-base-offset delta-islands dense depth \
    deref dereference description-file detach developer-interfaces diagnose diff-algorithm diff-filter \
    diff-merges diff3 dir-diff directory dirstat dirstat-by-file dirty disable disambiguate discard-changes \
    disk-usage dissociate divider do-walk done dry-run dst-prefix dual-color edit edit-description edit-todo \
    email empty empty-directory enable encode-email-headers encoding end-of-options env-filter envsubst eol \
    error-unmatch exact-match exclude exclude-existing exclude-first-parent-only exclude-from exclude-guides \
    exclude-hidden exclude-per-directory exclude-promisor-objects exclude-standard exec exec-path exists \
    exit-code expand-tabs expire expire-time expire-to expire-unreachable expiry-date export-all export-marks \
    export-pack-edges ext-diff ext-grep extcmd extended-regexp external-commands fake-missing-tagger fetch ff \
    ff-only file filename-max-length files files-with-matches files-without-match filter filter-print-omitted \
    filter-provided-objects filter-to filters find-copies find-copies-harder find-object find-renames \
    first-parent fix-thin fixed-strings fixed-value fixup flags follow follow-symlinks follow-tags \
    forbid-override force force-create force-if-includes force-in-body-from force-rebase force-remove \
    force-untracked-cache force-with-lease force-write-index fork-point format from fsck-objects fsmonitor \
    fsmonitor-valid full full-diff full-history full-index full-name full-tree function-context geometric get \
    get-all get-color get-colorbool get-regexp get-url get-urlmatch git git-common-dir git-dir git-path glob \
    glob-pathspecs global gpg-sign graft graph grep grep-reflog group guess guess-remote gui guides hard \
    hardlinks hash head header heading heads help help-all helper-status histogram honor-pack-keep html-path \
    http-backend-info-refs httpd human-readable icase-pathspecs if-exists if-missing ignore-all-space \
    ignore-blank-lines ignore-cache-tree ignore-case ignore-cr-at-eol ignore-date ignore-errors \
    ignore-if-in-upstream ignore-joins ignore-matching-lines ignore-missing ignore-other-worktrees \
    ignore-removal ignore-rev ignore-revs-file ignore-skip-worktree-bits ignore-skip-worktree-entries \
    ignore-space-at-eol ignore-space-change ignore-submodules ignore-unmatch ignore-unmerged ignore-whitespace \
    ignored import-marks import-marks-if-exists in-commit-order in-place in-reply-to inaccurate-eof \
    inbody-headers include include-root-refs include-tag include-untracked includes incremental indent \
    indent-heuristic independent index index-filter index-info index-output index-pack-args index-version \
    indexed-objects inetd info info-only info-path informative-errors init init-timeout initial-branch inline \
    int intent-to-add inter-hunk-context interactive interdiff interpolated-path into-name invert-grep \
    invert-match ipv4 ipv6 irreversible-delete is-ancestor is-bare-repository is-inside-git-dir \
    is-inside-work-tree is-shallow-repository ita-invisible-in-index ita-visible-in-index jobs keep keep-base \
    keep-cr keep-dashdash keep-empty keep-going keep-index keep-largest-pack keep-non-patch keep-pack \
    keep-redundant-commits keep-subject keep-true-parents keep-unreachable killed left-only left-right lib \
    line-number line-porcelain line-prefix list list-cmds listen literal-pathspecs literally local \
    local-env-vars local-user lock log log-destination log-size long lost-found mailmap mailmap-blob \
    mailmap-file mainline man man-path mark-tags marker-size match max-age max-commits max-connections max-count \
    max-cruft-size max-depth max-input-size max-new-filters max-pack-size max-parents mboxrd merge merge-base \
    merged merges message message-id messages min-age min-parents minimal mirror missing missing-ok mixed mode \
    modified module-path more move msg-filter multiple naked name name-objects name-only name-status namespace \
    negotiate negotiate-only negotiation-tip nl no-pager nofork noglob-pathspecs non-empty non-matching \
    normalize not notes ntlm null numbered numbered-files numstat object-dir object-format object-id \
    object-names object-only objects objects-edge objects-edge-aggressive octopus omit-empty oneline only \
    only-input only-matching only-trailers only-untracked onto open-files-in-pager optional-locks or origin \
    original orphan others ours output output-directory output-indicator-context output-indicator-new \
    output-indicator-old overlay overwrite-ignore pack-kept-objects pack-loose-unreachable packfile padding \
    pager paginate parent-basename parent-filter parents parse parseopt patch patch-format patch-with-raw \
    patch-with-stat patches path path-format pathspec-file-nul pathspec-from-file patience peel-tag perl \
    perl-regexp pickaxe-all pickaxe-regex pid-file points-at porcelain port post-rewrite preferred-pack prefetch \
    prefix preserve-merges pretty print progress progress-title promisor prompt prune prune-empty prune-tags \
    push push-option python quiet quit quote quoted-cr qux range-diff raw raw-mode reachable really-refresh \
    reapply-cherry-picks reason rebase rebase-merges rebasing receive-pack recommend-shallow recount recover \
    recurse recurse-submodules recurse-submodules-default recursive reedit-message reencode ref ref-format \
    reference reference-excluded-parents reference-if-able refetch reflog reflogs refmap refresh refs \
    refs-snapshot refspec refspec-pattern regexp-ignore-case reject reject-shallow reject-thin-pack-for-testing \
    rejoin relative relative-date relative-marks relogin-delay remerge-diff remote remote-submodules remotes \
    remove remove-empty remove-section rename-empty rename-section renames renormalize replace replace-all \
    replace-objects repo rerere-autoupdate reroll-count reschedule-failed-exec reset reset-author \
    reset-author-date resolve-git-dir resolve-undo resolved resolvemsg restart retry reuse-delta reuse-message \
    reuse-object reuseaddr rev-index reverse revs revs-only rewrite rewrite-submodules-from \
    rewrite-submodules-to rfc right-only root rotate-to schedule scheduled scheduler scissors score-debug \
    separate-git-dir series server-option set-upstream set-upstream-to setup sha1-name shallow shallow-exclude \
    shallow-since shallow-submodules shared shared-index-path shell short shortstat show-cdup show-current \
    show-current-patch show-email show-forced-updates show-function show-index-version show-linear-break \
    show-name show-notes show-number show-object-format show-origin show-original-ids show-prefix show-pulls \
    show-scope show-signature show-stash show-stats show-superproject-working-tree show-toplevel sign signature \
    signature-file signed signed-tags signoff simplify-by-decoration simplify-merges since since-as-filter \
    single-branch single-worktree size-multiple skip skip-to skip-worktree socket soft sort source sparse \
    sparse-checkout sparse-index split split-index sq sq-quote squash src-prefix stable stage staged stale-fix \
    standard-notes start start-number stat stat-count stat-graph-width stat-name-width stat-only stat-width \
    state-branch stateless-rpc stats status stdin stdin-commits stdin-packs stdin-paths stdout stop \
    stop-at-non-option strategy strategy-option strict strict-paths strip-comments stuck-long \
    subdirectory-filter subject-prefix submodule submodule-prefix suffix summary summary-limit super-prefix \
    symbolic symbolic-full-name symlinks symref syslog system tag-name-filter tag-of-filtered-object tags task \
    tcl temp template term term-bad term-good term-new term-old test-untracked-cache text textconv theirs thin \
    thread threads timeout timestamp to tool tool-help topics topo-order trace-ascii track trailer tree-filter \
    trim-empty trivial trivial-merge trust-exit-code type undefined unfold unidiff-zero unified union unmerged \
    unordered unpack-unreachable unpacked unreachable unresolve unsafe-paths unset unset-all unset-upstream \
    unshallow unstable until untracked untracked-cache untracked-files update update-head-ok update-refs \
    update-shallow updateref upload-pack uri-protocol use-bitmap-index use-done-feature use-mailmap user \
    user-formats user-interfaces user-path utf8 variables verbatim verbose verify verify-signatures version walk \
    walk-reflogs warn-embedded-repo web where whitespace width window window-memory with with-tree without \
    word-diff word-diff-regex word-regexp work-tree worktree worktree-attributes write-bitmap-index \
    write-bitmap-index-quiet write-commit-graph write-fetch-head write-midx write-tree ws-error-highlight zdiff3 \
    zero-commit";

/// Whether every long option among the words is known. A beginning of a name stands for it, as for git.
pub(super) fn are_known(arguments: &[ShellWord]) -> bool {
    let words = arguments.iter().take_while(|word| word.literal() != Some("--"));
    words.filter_map(ShellWord::literal).filter_map(|text| text.strip_prefix("--")).all(|option| {
        let name = option.split('=').next().unwrap_or(option);
        let is_known = |name: &str| OPTIONS.split_whitespace().any(|known| known.starts_with(name));
        is_known(name) || name.strip_prefix("no-").is_some_and(is_known)
    })
}
