package bufpush

import (
	"slices"
	"strings"

	modulev1 "buf.build/gen/go/bufbuild/registry/protocolbuffers/go/buf/registry/module/v1"
)

func getCommits(c *call, q *modulev1.GetCommitsRequest) (*modulev1.GetCommitsResponse, error) {
	commits, err := each(q.GetResourceRefs(), c.view().commitOf)
	if err != nil {
		return nil, err
	}
	return &modulev1.GetCommitsResponse{Commits: wireCommits(commits)}, nil
}

func wireCommits(commits []*commit) []*modulev1.Commit {
	out := make([]*modulev1.Commit, 0, len(commits))
	for _, c := range commits {
		out = append(out, c.wire())
	}
	return out
}

// listCommits lists the commits of a module, those that a label was set to, or a commit alone.
func listCommits(c *call, q *modulev1.ListCommitsRequest) (*modulev1.ListCommitsResponse, error) {
	v := c.view()
	r, err := v.resourceOf(q.GetResourceRef())
	if err != nil {
		return nil, err
	}
	prefix := strings.ReplaceAll(q.GetIdQuery(), "-", "")
	var all []entry
	switch {
	case r.commit != nil:
		all = []entry{entryOf(r.commit)}
	case r.label != nil:
		all = v.history(r.label)
	default:
		all = v.entries(r.module, prefix)
	}
	if r.commit != nil || r.label != nil {
		all = slices.DeleteFunc(all, func(e entry) bool { return !strings.HasPrefix(e.id, prefix) })
	}
	if q.GetOrder() != modulev1.ListCommitsRequest_ORDER_CREATE_TIME_ASC {
		slices.Reverse(all)
	}
	commits, next, err := pageOf(all, q.GetPageSize(), q.GetPageToken())
	if err != nil {
		return nil, err
	}
	return &modulev1.ListCommitsResponse{NextPageToken: next, Commits: wireCommits(commits)}, nil
}

func getResources(c *call, q *modulev1.GetResourcesRequest) (*modulev1.GetResourcesResponse, error) {
	resources, err := each(q.GetResourceRefs(), c.view().resourceOf)
	if err != nil {
		return nil, err
	}
	out := new(modulev1.GetResourcesResponse)
	for _, r := range resources {
		w := new(modulev1.Resource)
		switch {
		case r.commit != nil:
			w.Value = &modulev1.Resource_Commit{Commit: r.commit.wire()}
		case r.label != nil:
			w.Value = &modulev1.Resource_Label{Label: r.label.wire()}
		default:
			w.Value = &modulev1.Resource_Module{Module: r.module.wire()}
		}
		out.Resources = append(out.Resources, w)
	}
	return out, nil
}

// getGraph answers commits with all they need, and which needs which.
func getGraph(c *call, q *modulev1.GetGraphRequest) (*modulev1.GetGraphResponse, error) {
	v := c.view()
	roots, err := each(q.GetResourceRefs(), v.commitOf)
	if err != nil {
		return nil, err
	}
	n, err := v.resolve(roots)
	if err != nil {
		return nil, err
	}
	g := &modulev1.Graph{Commits: wireCommits(n.commits)}
	for _, from := range n.commits {
		for _, to := range n.needs[from.ID] {
			g.Edges = append(g.Edges, &modulev1.Graph_Edge{
				FromNode: &modulev1.Graph_Node{CommitId: from.ID}, ToNode: &modulev1.Graph_Node{CommitId: to},
			})
		}
	}
	return &modulev1.GetGraphResponse{Graph: g}, nil
}

// maxDownload is the size of files in one answer.
const maxDownload = 64 << 20

func download(c *call, q *modulev1.DownloadRequest) (*modulev1.DownloadResponse, error) {
	v, left := c.view(), maxDownload
	contents, err := each(q.GetValues(), func(q *modulev1.DownloadRequest_Value) (*modulev1.DownloadResponse_Content, error) {
		commit, err := v.commitOf(q.GetResourceRef())
		if err != nil {
			return nil, err
		}
		files, err := v.sources(commit)
		if err != nil {
			return nil, err
		}
		out := &modulev1.DownloadResponse_Content{Commit: commit.wire()}
		found := map[string]bool{}
		for _, f := range files {
			found[f.path] = true
			if wanted(q, f.path) {
				if left -= len(f.content); left < 0 {
					return nil, newFault(resourceExhausted, "the files have more than %d bytes; ask for fewer modules at a time", maxDownload)
				}
				out.Files = append(out.Files, &modulev1.File{Path: f.path, Content: f.content})
			}
		}
		for _, p := range q.GetPaths() {
			if !found[p] && !q.GetPathsAllowNotExist() {
				return nil, notFound("there is no file %s in commit %s", p, commit.ID)
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, err
	}
	return &modulev1.DownloadResponse{Contents: contents}, nil
}

// wanted tells whether a file is one of those that are asked for.
func wanted(q *modulev1.DownloadRequest_Value, path string) bool {
	if len(q.GetPaths()) > 0 && !slices.Contains(q.GetPaths(), path) {
		return false
	}
	if len(q.GetFileTypes()) == 0 {
		return true
	}
	kind := modulev1.FileType_FILE_TYPE_DOC
	switch {
	case isProto(path):
		kind = modulev1.FileType_FILE_TYPE_PROTO
	case path == "LICENSE":
		kind = modulev1.FileType_FILE_TYPE_LICENSE
	}
	return slices.Contains(q.GetFileTypes(), kind)
}
